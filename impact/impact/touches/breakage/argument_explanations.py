"""Errors about the arguments of a call, explained by changed signatures."""

from __future__ import annotations

from typing import NamedTuple

from impact.contract.models import ChangeKind, ContractClass
from impact.python.models import ParameterKind, Signature
from impact.touches.breakage.change_names import (
    GONE,
    MEMBERS,
    NEW,
    STRANGER,
    ChangeNames,
    Explanation,
    describe_end,
    explain_field,
    rate_owner,
    show_name,
)
from impact.touches.breakage.error_lines import ErrorLine
from impact.touches.breakage.kinship import Kinship

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
        return Explanation(0.97 * place.kin, _describe_new_argument(error, names, argument))
    if names.change.kind in GONE | {ChangeKind.SIGNATURE}:
        return Explanation(_OTHER_ARGUMENT * max(place), f"changes {show_name(names.shown)}")
    return None


def _describe_new_argument(error: ErrorLine, names: ChangeNames, argument: str) -> str:
    own = f", which {show_name(error.owner)} has to take too" if error.owner else ""
    return f"adds the argument {show_name(argument)} to {show_name(names.shown)}{own}"


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
        return Explanation(
            0.45, f"{describe_end(names)} {show_name(names.shown)}, which took {show_name(argument)}"
        )
    if argument in new and (argument not in old or old.index(argument) != new.index(argument)):
        clause = f"passes or places the argument {show_name(argument)} of {show_name(names.shown)} in another way"
        return Explanation(0.9 * max(place), clause)
    return None
