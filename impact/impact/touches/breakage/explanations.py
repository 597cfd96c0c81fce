"""Whether one contract change explains one error, and why, as a clause that goes on from "it"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from impact.contract.models import PYTHON_CLASSES, ChangeKind, ContractChange, ContractClass
from impact.profile.models import DerivedClass, Profile
from impact.python.models import Parameter, ParameterKind, Signature
from impact.touches.breakage.traceback_names import ErrorKind, ErrorLine

# the words of a class name: NPUOffloadingSpec is NPU, Offloading and Spec
_CLASS_WORD = re.compile(r"[A-Z]{1,60}(?![a-z])|[A-Z]?[a-z0-9]{1,60}")
MAX_WORDS = 12
# words that a base has and its subclasses leave out
_BASE_WORDS = frozenset(("base", "abstract", "interface", "abc", "mixin", "impl"))
# a class that a profile knows, with other ancestors: the profile may not follow every base
_UNLISTED_SHARE = 0.4
# names that end in different words are no kin: a scheduler is no worker
_LEAST_LIKENESS = 0.4


class Kinship:
    """Kinship of classes, from 0 for none to 1 for a known ancestor."""

    def __init__(self, profiles: Iterable[Profile] = ()) -> None:
        self._ancestors = _index_ancestors(derived for each in profiles for derived in each.classes.values())

    def measure(self, name: str, ancestor: str) -> float:
        last, base = name.rpartition(".")[2], ancestor.rpartition(".")[2]
        if not last or not base:
            return 0.0
        if last == base:
            return 1.0
        known = self._ancestors.get(last)
        if known is None:
            return compare_class_names(last, base)
        if ancestor in known:
            return 1.0
        if base in {each.rpartition(".")[2] for each in known}:
            return 0.9
        return _UNLISTED_SHARE * compare_class_names(last, base)


def _index_ancestors(classes: Iterable[DerivedClass]) -> dict[str, frozenset[str]]:
    """Return the upstream ancestors by the last part of a class's name."""
    index: dict[str, frozenset[str]] = {}
    for derived in classes:
        last = derived.name.rpartition(".")[2]
        index[last] = index.get(last, frozenset()) | frozenset(derived.ancestors)
    return index


@lru_cache(maxsize=4096)
def compare_class_names(name: str, base: str) -> float:
    """Return how much a class is named as its base would be: 0.9 if the base's name is its end, 0 if unlike."""
    words, base_words = _split_words(name), _split_words(base)
    if words[-1:] != base_words[-1:]:
        base_words = [word for word in base_words if word not in _BASE_WORDS]
    if not words or not base_words or words[-1] != base_words[-1]:
        return 0.0
    if words[-len(base_words) :] == base_words:
        # "Scheduler" is the end of many names, "OffloadingSpec" of few
        return 0.9 if len(base_words) > 1 else 0.75
    common = _count_common(words, base_words)
    likeness = 2 * common / (len(words) + len(base_words))
    return 0.85 * likeness if likeness > _LEAST_LIKENESS else 0.0


def _split_words(name: str) -> list[str]:
    """Return the words of a name in lower case."""
    return [word.lower() for word in _CLASS_WORD.findall(name)[-MAX_WORDS:]]


def _count_common(words: list[str], others: list[str]) -> int:
    """Return how many words both have in the same order."""
    counts = [0] * (len(others) + 1)
    for word in words:
        before = 0
        for place, other in enumerate(others, 1):
            above = counts[place]
            counts[place] = before + 1 if word == other else max(counts[place], counts[place - 1])
            before = above
    return counts[-1]


GONE = frozenset((ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.RENAMED))
NEW = frozenset((ChangeKind.ADDED, ChangeKind.ADDED_MEMBER, ChangeKind.ABSTRACT_MEMBER))
MEMBERS = frozenset(
    (ContractClass.METHOD, ContractClass.ATTRIBUTE, ContractClass.CONFIGURATION, ContractClass.API_FIELD)
)
# another class has a member of the same name, and nothing says that the two are kin
STRANGER = 0.3
_MAX_SHOWN = 80


class Explanation(NamedTuple):
    """How surely a change explains an error, from 0 to 1, and why."""

    strength: float
    clause: str


@dataclass(frozen=True)
class ChangeNames:
    change: ContractChange

    @cached_property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.change.name.replace("::", ".").split("."))

    @property
    def last(self) -> str:
        """The last part: a method, an attribute, a class, a function."""
        return self.parts[-1]

    @cached_property
    def owner(self) -> str:
        """The full name of the class that a member belongs to; empty for what is no member."""
        is_member = len(self.parts) > 1 and self.parts[-2].lstrip("_")[:1].isupper()
        return ".".join(self.parts[:-1]) if is_member else ""

    @property
    def owner_name(self) -> str:
        """The class's own name."""
        return self.owner.rpartition(".")[2]

    @property
    def shown(self) -> str:
        """The name as a reader sees it: a member with its class."""
        return f"{self.owner_name}.{self.last}" if self.owner else self.last

    @cached_property
    def old_parameters(self) -> Mapping[str, Parameter]:
        """The parameters before, by name."""
        return _index_parameters(self.change.old_signature)

    @cached_property
    def new_parameters(self) -> Mapping[str, Parameter]:
        """The parameters after, by name."""
        return _index_parameters(self.change.new_signature)


def _index_parameters(signature: Signature | None) -> Mapping[str, Parameter]:
    return {each.name: each for each in signature.parameters} if signature else {}


def show_name(name: str) -> str:
    return f"`{name[:_MAX_SHOWN]}`"


def rate_owner(owner: str, names: ChangeNames, kinship: Kinship, *, unknown: float, stranger: float) -> float:
    """Return how surely the class of an error is the one that a member belongs to, or derives from it."""
    if not owner or not names.owner:
        return unknown
    return max(kinship.measure(owner.rpartition(".")[2], names.owner), stranger)


def describe_end(names: ChangeNames) -> str:
    verbs = {ChangeKind.MOVED: "moves", ChangeKind.RENAMED: "renames"}
    return verbs.get(names.change.kind, "removes")


def describe_heir(names: ChangeNames) -> str:
    return f" to {show_name(names.change.new_name)}" if names.change.new_name else ""


def describe_kind(names: ChangeNames) -> str:
    if names.change.kind in GONE:
        return describe_end(names)
    return "adds" if names.change.kind in NEW else "changes"


def explain_field(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    """Explain a field of a data class, a configuration or a request that isn't accepted."""
    if names.last.lstrip("-") not in error.names or names.change.kind not in GONE:
        return None
    strength = rate_owner(error.owner, names, kinship, unknown=0.85, stranger=STRANGER)
    return Explanation(strength, f"{describe_end(names)} the field {show_name(names.shown)}{describe_heir(names)}")


_POSITIONAL = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL)
# the function changed, but not the argument that the error is about
_OTHER_ARGUMENT = 0.1
_CONSTRUCTORS = frozenset(("__init__", "__new__", "__post_init__", "init"))


class _Place(NamedTuple):
    """How surely a change's function is the one of an error (``own``), or overrides it (``kin``)."""

    own: float
    kin: float


def _locate(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> _Place:
    is_constructor = error.function in _CONSTRUCTORS
    if is_constructor and names.change.subject is ContractClass.CLASS:
        owner = names.change.name
    elif error.function == names.last or (is_constructor and names.last in _CONSTRUCTORS):
        owner = names.owner
    else:
        return _Place(0.0, 0.0)
    last, base = error.owner.rpartition(".")[2], owner.rpartition(".")[2]
    if last and last == base:
        # a subclass in another package may have the same name
        return _Place(1.0, 0.85)
    if not last:
        # Python before 3.10 names no class; each has a constructor, and few have another function's name
        unsure = 0.3 if is_constructor else 0.7
        return _Place(1.0 if not base and not is_constructor else unsure, unsure)
    if not base:
        return _Place(0.0, 0.0)
    return _Place(0.0, max(kinship.measure(last, owner), 0.0 if is_constructor else STRANGER))


def explain_unexpected(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    """Explain an argument that a function doesn't take, or no longer."""
    argument = error.names[0]
    if names.last == argument and names.change.subject in MEMBERS:
        return explain_field(error, names, kinship)
    place = _locate(error, names, kinship)
    is_old, is_new = argument in names.old_parameters, argument in names.new_parameters
    if is_old and not is_new:
        return Explanation(place.own, f"removes the argument {show_name(argument)} of {show_name(names.shown)}")
    if is_new and not is_old:
        own = f", which {show_name(error.owner)} has to take too" if error.owner else ""
        clause = f"adds the argument {show_name(argument)} to {show_name(names.shown)}{own}"
        return Explanation(0.97 * place.kin, clause)
    if names.change.kind in GONE | {ChangeKind.SIGNATURE}:
        return Explanation(_OTHER_ARGUMENT * max(place), f"changes {show_name(names.shown)}")
    return None


def explain_missing(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    """Explain an argument that has to be passed, or that upstream no longer passes to an override."""
    if error.function in _CONSTRUCTORS and names.last in error.names:
        if names.change.kind not in NEW | {ChangeKind.DEFAULT, ChangeKind.RENAMED}:
            return None
        strength = rate_owner(error.owner, names, kinship, unknown=0.5, stranger=0.0)
        return Explanation(0.95 * strength, f"adds the field {show_name(names.shown)}")
    place = _locate(error, names, kinship)
    required = [each for each in error.names if _is_newly_required(each, names)]
    if required:
        share = len(required) / len(error.names)
        shown = ", ".join(map(show_name, required[:3]))
        return Explanation(share * place.own, f"makes {shown} a required argument of {show_name(names.shown)}")
    lost = [each for each in error.names if each in names.old_parameters and each not in names.new_parameters]
    if lost:
        clause = f"removes the argument {show_name(lost[0])} of {show_name(names.shown)}, so nobody passes it"
        return Explanation(0.95 * place.kin, clause)
    if names.change.kind in (ChangeKind.SIGNATURE, ChangeKind.RENAMED):
        return Explanation(_OTHER_ARGUMENT * max(place), f"changes {show_name(names.shown)}")
    return None


def _is_newly_required(name: str, names: ChangeNames) -> bool:
    """Return whether a parameter has to be passed now and had not to be before."""
    old, new = names.old_parameters.get(name), names.new_parameters.get(name)
    return new is not None and new.default is None and (old is None or old.default is not None)


def explain_count(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    change = names.change
    if change.old_signature is None or change.new_signature is None or change.kind is ChangeKind.BEHAVIOUR:
        return None
    place = _locate(error, names, kinship)
    old, new = _count_positional(change.old_signature), _count_positional(change.new_signature)
    clause = f"changes the number of arguments of {show_name(names.shown)}"
    if error.expected is None or error.passed is None or old == new:
        return Explanation(0.4 * max(place), f"changes {show_name(names.shown)}")
    fewer = place.own * (1.0 if new == error.expected and old >= error.passed else 0.4)
    fits = new == error.passed and old == error.expected
    more = place.kin * (0.97 if fits else 0.85 if old <= error.expected < error.passed <= new else 0.4)
    return Explanation(max(fewer, more), clause)


def _count_positional(signature: Signature) -> int:
    """Return how many positional arguments fit; very many if there is ``*args``."""
    if any(each.kind is ParameterKind.REST for each in signature.parameters):
        return 1_000
    return sum(each.kind in _POSITIONAL for each in signature.parameters)


def explain_repeated(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    argument = error.names[0]
    old, new = list(names.old_parameters), list(names.new_parameters)
    place = _locate(error, names, kinship) if error.function else _Place(0.55, 0.55)
    if not error.function and names.change.kind in GONE and argument in old:
        clause = f"{describe_end(names)} {show_name(names.shown)}, which took {show_name(argument)}"
        return Explanation(0.45, clause)
    if argument in new and (argument not in old or old.index(argument) != new.index(argument)):
        clause = f"passes or places the argument {show_name(argument)} of {show_name(names.shown)} in another way"
        return Explanation(0.9 * max(place), clause)
    return None


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
    base = 0.75 if names.change.kind is ChangeKind.ABSTRACT_MEMBER else 0.45
    strength = base + 0.25 * kinship.measure(error.owner, names.owner)
    return Explanation(strength, f"adds the abstract {show_name(names.shown)}, which subclasses have to define")


def _explain_flag(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    """Explain a flag that isn't known."""
    if names.change.subject is not ContractClass.FLAG:
        return None
    flags = {_normalize_flag(each) for each in error.names}
    if _normalize_flag(names.change.name) not in flags:
        return None
    clause = f"{describe_kind(names)} the flag {show_name(names.change.name)}{describe_heir(names)}"
    return Explanation(1.0 if names.change.kind in GONE else 0.5, clause)


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
    clause = f"{describe_kind(names)} the op {show_name(names.change.name)}{describe_heir(names)}"
    return Explanation(1.0 if names.change.kind in GONE else 0.8, clause)


def _explain_other(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    is_its_kind = names.change.kind in _KINDS_BY_EXCEPTION.get(error.exception, ())
    if names.last not in error.names or not is_its_kind or names.change.subject not in PYTHON_CLASSES:
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
