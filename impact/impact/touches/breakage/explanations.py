"""Whether one contract change explains one error, and why, as a clause that goes on from "it"."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from impact.contract.models import PYTHON_CLASSES, ChangeKind, ContractClass
from impact.touches.breakage.argument_explanations import (
    explain_count,
    explain_missing,
    explain_repeated,
    explain_unexpected,
)
from impact.touches.breakage.change_names import (
    GONE,
    MEMBERS,
    NEW,
    STRANGER,
    ChangeNames,
    Explanation,
    describe_end,
    describe_heir,
    describe_kind,
    explain_field,
    rate_owner,
    show_name,
)
from impact.touches.breakage.error_lines import ErrorKind, ErrorLine
from impact.touches.breakage.kinship import Kinship

# what Python itself and test doubles are called in "'X' object has no attribute 'y'"
_BUILTINS = frozenset(
    "NoneType tuple list dict bool int str float set bytes function method type object generator coroutine Tensor "
    "MagicMock Mock SimpleNamespace builtin_function_or_method".split()
)
# a name that can still be used by a shim explains little
_SHIM_SHARE = 0.2


def explain_error(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    """Return how a change explains an error; None if it doesn't."""
    explain = _EXPLAINERS.get(error.kind)
    result = explain(error, names, kinship) if explain else None
    return None if result is None or result.strength <= 0 else result


def _explain_missing_field(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    if names.last not in error.names or names.change.kind not in NEW | {ChangeKind.DEFAULT, ChangeKind.RENAMED}:
        return None
    strength = rate_owner(error.owner, names, kinship, unknown=0.85, stranger=STRANGER)
    return Explanation(strength, f"makes the field {show_name(names.shown)} required")


def _explain_import(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    change, name = names.change, error.names[0]
    if change.kind not in GONE or change.subject not in PYTHON_CLASSES:
        return None
    strength = _rate_import(f"{error.owner}.{name}" if error.owner else "", name, names)
    if change.is_importable:
        strength *= _SHIM_SHARE
    return Explanation(strength, f"{describe_end(names)} {show_name(change.name)}{describe_heir(names)}")


def _rate_import(full: str, name: str, names: ChangeNames) -> float:
    if full == names.change.name:
        return 1.0
    if names.last == name and not names.owner:
        # it may be imported through a package that had it from there
        package = full.partition(".")[0]
        return 0.8 if package in ("", names.parts[0]) else 0.5
    if names.change.subject is ContractClass.MODULE and full.startswith(f"{names.change.name}."):
        return 0.7
    return 0.0


def _explain_module(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    change = names.change
    clause = f"{describe_end(names)} {show_name(change.name)}{describe_heir(names)}"
    if change.subject is ContractClass.DEPENDENCY and change.name.replace("-", "_").startswith(error.owner):
        return Explanation(0.7, f"changes the dependency {show_name(change.name)}")
    if change.kind not in GONE or change.subject not in PYTHON_CLASSES:
        return None
    if change.name == error.owner:
        strength = 1.0
    elif change.subject is ContractClass.MODULE and error.owner.startswith(f"{change.name}."):
        strength = 0.95
    elif change.name.startswith(f"{error.owner}."):
        strength = 0.6
    else:
        return None
    return Explanation(strength * (_SHIM_SHARE if change.is_importable else 1.0), clause)


def _explain_attribute(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    name, change = error.names[0], names.change
    # of a class that is called through ``super()``, the name isn't known
    owner = "" if error.owner == "super" else error.owner
    if owner and not owner.rpartition(".")[2].lstrip("_")[:1].isupper() and owner not in _BUILTINS:
        return _explain_import(error, names, kinship)
    if names.last != name or change.subject not in PYTHON_CLASSES | MEMBERS:
        return None
    if change.kind in GONE:
        share = _SHIM_SHARE if change.is_importable else 1.0
        strength = share * _rate_attribute_owner(owner, names, kinship)
        return Explanation(strength, f"{describe_end(names)} {show_name(names.shown)}{describe_heir(names)}")
    if change.kind in NEW and names.owner:
        # a value of a plain type lacks what no upstream class gave it
        share = 0.5 if owner in _BUILTINS else 0.9
        strength = share * _rate_attribute_owner(owner, names, kinship)
        return Explanation(strength, f"adds {show_name(names.shown)}, which others now expect")
    if change.kind is not ChangeKind.BEHAVIOUR:
        return Explanation(0.4, f"changes {show_name(names.shown)}")
    return None


def _rate_attribute_owner(owner: str, names: ChangeNames, kinship: Kinship) -> float:
    if owner in _BUILTINS:
        # the object is of another type than before, so its class is unknown
        return 0.5
    return rate_owner(owner, names, kinship, unknown=0.7, stranger=0.4)


def _explain_abstract(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    if names.last not in error.names or names.change.kind not in NEW | {ChangeKind.RENAMED}:
        return None
    kin = kinship.measure(error.owner, names.owner)
    base = 0.75 if names.change.kind is ChangeKind.ABSTRACT_MEMBER else 0.45
    return Explanation(
        base + 0.25 * kin, f"adds the abstract {show_name(names.shown)}, which subclasses have to define"
    )


def _explain_flag(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    """Explain a flag that isn't known."""
    if names.change.subject is not ContractClass.FLAG:
        return None
    flags = {_normalize_flag(each) for each in error.names}
    if _normalize_flag(names.change.name) not in flags:
        return None
    strength = 1.0 if names.change.kind in GONE else 0.5
    return Explanation(
        strength, f"{describe_kind(names)} the flag {show_name(names.change.name)}{describe_heir(names)}"
    )


def _normalize_flag(flag: str) -> str:
    return flag.lstrip("-").replace("_", "-").removeprefix("no-")


def _explain_key(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    if error.names[0] not in (names.last, names.change.name) or names.change.kind is ChangeKind.BEHAVIOUR:
        return None
    strength = 0.65 if names.change.kind in GONE else 0.45
    return Explanation(strength, f"{describe_kind(names)} {show_name(names.shown)}{describe_heir(names)}")


def _explain_op(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    if names.change.subject is not ContractClass.OP:
        return None
    if names.last not in {each.rpartition("::")[2] for each in error.names}:
        return None
    strength = 1.0 if names.change.kind in GONE else 0.8
    return Explanation(
        strength, f"{describe_kind(names)} the op {show_name(names.change.name)}{describe_heir(names)}"
    )


def _explain_other(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    kinds = _KINDS_BY_EXCEPTION.get(error.exception, frozenset())
    if (
        names.last not in error.names
        or names.change.kind not in kinds
        or names.change.subject not in PYTHON_CLASSES
    ):
        return None
    return Explanation(0.6, f"{describe_kind(names)} {show_name(names.shown)}{describe_heir(names)}")


_KINDS_BY_EXCEPTION: Mapping[str, frozenset[ChangeKind]] = {
    "TypeError": frozenset((ChangeKind.SIGNATURE, ChangeKind.RETURN, ChangeKind.ABSTRACT_MEMBER)),
    "ImportError": GONE,
    "ModuleNotFoundError": GONE,
    "AttributeError": GONE,
}
_EXPLAINERS: Mapping[ErrorKind, Callable[[ErrorLine, ChangeNames, Kinship], Explanation | None]] = {
    ErrorKind.UNEXPECTED_ARGUMENT: explain_unexpected,
    ErrorKind.MISSING_ARGUMENT: explain_missing,
    ErrorKind.ARGUMENT_COUNT: explain_count,
    ErrorKind.REPEATED_ARGUMENT: explain_repeated,
    ErrorKind.IMPORT: _explain_import,
    ErrorKind.MODULE: _explain_module,
    ErrorKind.ATTRIBUTE: _explain_attribute,
    ErrorKind.ABSTRACT: _explain_abstract,
    ErrorKind.FIELD: explain_field,
    ErrorKind.MISSING_FIELD: _explain_missing_field,
    ErrorKind.FLAG: _explain_flag,
    ErrorKind.KEY: _explain_key,
    ErrorKind.NAME: _explain_key,
    ErrorKind.OP: _explain_op,
    ErrorKind.OTHER: _explain_other,
}
