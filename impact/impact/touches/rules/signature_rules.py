"""Rules for changed signatures, by who calls whom: the team upstream, or upstream the team's override."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from impact.contract.models import ContractChange, ContractClass, MergeContract
from impact.contract.python.callers import get_called_name
from impact.profile.models import Use, UseKind
from impact.python.binding import can_bind, drop_receiver, find_binding_problem, list_required
from impact.python.models import CallShape, ParameterKind, Signature
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex
from impact.touches.rules.possible_calls import list_possible_calls
from impact.touches.rules.verdicts import Verdict

_CALLS = frozenset({UseKind.CALL, UseKind.INHERITED, UseKind.NAMED, UseKind.POSSIBLE_CALL})
_REPLACEMENTS = frozenset({UseKind.OVERRIDE, UseKind.PATCH})
_CONSTRUCTOR = ".__init__"


def judge_signature(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    if change.old_signature is None or change.new_signature is None:
        return
    old, new = _view_as_caller(change, change.old_signature), _view_as_caller(change, change.new_signature)
    for use in (*_list_uses(change, index), *list_possible_calls(change, contract, index)):
        if use.kind in _REPLACEMENTS:
            yield _judge_replacement(change, use, (old, new), contract)
        elif use.call is not None and use.kind in _CALLS:
            yield _judge_call(use, old, new, contract.ignored)
        elif use.kind is UseKind.COPY:
            yield Verdict(use, TouchLevel.TOUCHES, 0.35, "what it was copied from has other parameters")
        else:
            yield _judge_mention(use, old, new)


def _view_as_caller(change: ContractChange, signature: Signature) -> Signature:
    return drop_receiver(signature) if _is_member(change) else signature


def _is_member(change: ContractChange) -> bool:
    return change.subject is ContractClass.METHOD


def _list_uses(change: ContractChange, index: ProfileIndex) -> list[Use]:
    """Return the uses of a callable; of a constructor, also the calls of its class."""
    uses = list(index.list_uses(change.name))
    if change.name.endswith(_CONSTRUCTOR):
        owner = change.name.removesuffix(_CONSTRUCTOR)
        uses += [use for use in index.list_uses(owner) if use.call is not None and use.kind is UseKind.CALL]
    return uses


def _judge_call(use: Use, old: Signature, new: Signature, ignored: Collection[str]) -> Verdict:
    """Judge a call by the team. ``ignored`` are names that are gone and that upstream still takes."""
    shape = use.call or CallShape()
    problem = find_binding_problem(new, shape)
    if problem and can_bind(old, shape):
        return Verdict(use, TouchLevel.BREAKS, 0.9, problem)
    if not problem and (moved := _find_moved_argument(old, new, shape)):
        return Verdict(use, TouchLevel.BREAKS, 0.85, f"its argument for `{moved}` now goes to another parameter")
    if problem and (reason := _find_new_problem(old, new, shape)):
        return Verdict(use, TouchLevel.BREAKS, 0.8, reason)
    if problem:
        return Verdict(use, TouchLevel.TOUCHES, 0.2, "its parameters changed")
    names = {each.name for each in new.parameters}
    for keyword in shape.keywords:
        if keyword in ignored and keyword not in names:
            reason = f"it passes `{keyword}`, which upstream still takes, and ignores"
            return Verdict(use, TouchLevel.STOPS_SILENTLY, 0.8, reason)
    if shape.has_star or shape.has_double_star:
        return Verdict(use, TouchLevel.TOUCHES, 0.25, "its parameters changed, and arguments are passed on")
    return Verdict(use, TouchLevel.NO, 0.08, "the call still fits")


def _find_new_problem(old: Signature, new: Signature, shape: CallShape) -> str:
    """Return what this change adds to why a call can't fit, as a clause, empty for nothing.

    The call fits neither version if the team follows an earlier release than the one before this change.
    """
    before, after = ({each.name for each in version.parameters} for version in (old, new))
    takes_all = any(each.kind is ParameterKind.KEYWORDS for each in new.parameters)
    for keyword in () if takes_all else shape.keywords:
        if keyword in before - after:
            return f"it passes `{keyword}`, which is gone"
    passed = {*shape.keywords, *_list_positional(new)[: shape.positional]}
    for each in () if shape.has_star or shape.has_double_star else list_required(new):
        if each.name not in before | passed:
            return f"it does not pass `{each.name}`, which is required"
    return ""


def _find_moved_argument(old: Signature, new: Signature, shape: CallShape) -> str:
    """Return the parameter whose positional argument now goes to a parameter of another name, if both still exist.

    A parameter that was only renamed takes the same value.
    """
    befores, afters = (_list_positional(each)[: shape.positional] for each in (old, new))
    earlier, later = ({each.name for each in version.parameters} for version in (old, new))
    for before, after in zip(befores, afters, strict=False):
        if before != after and (before in later or after in earlier):
            return before
    return ""


def _list_positional(signature: Signature) -> list[str]:
    kinds = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL)
    return [each.name for each in signature.parameters if each.kind in kinds]


def _judge_replacement(
    change: ContractChange, use: Use, versions: tuple[Signature, Signature], contract: MergeContract
) -> Verdict:
    """Judge an override or a patch, which upstream calls: with what this merge's callers pass, or must pass."""
    old, new = versions
    if use.signature is None:
        return Verdict(use, TouchLevel.MAY_BREAK, 0.4, "the method that it replaces has other parameters")
    own = _view_as_caller(change, use.signature)
    if reason := _find_failing_call(change, (old, new, own), contract):
        return Verdict(use, TouchLevel.BREAKS, 0.85, reason)
    if extra := _find_unknown_parameter(old, new, own):
        return Verdict(use, TouchLevel.MAY_BREAK, 0.5, f"upstream may pass `{extra}`, which it does not take")
    return Verdict(use, TouchLevel.TOUCHES, 0.25, "the method that it replaces has other parameters")


def _find_failing_call(
    change: ContractChange, versions: tuple[Signature, Signature, Signature], contract: MergeContract
) -> str:
    """Return why a call of upstream fails from now on, by what callers pass or must pass; empty if none does."""
    old, new, own = versions
    for shape in contract.calls.get(get_called_name(change), ()):
        if can_bind(new, shape) and not can_bind(old, shape) and (problem := find_binding_problem(own, shape)):
            return f"upstream now calls it, and {_turn_around(problem)}"
    if refused := _find_refused_parameter(old, new, own):
        return f"upstream now passes `{refused}`, which it does not take"
    problem = find_binding_problem(own, _build_least_call(new))
    if problem and can_bind(own, _build_least_call(old)):
        return f"upstream now calls it, and {_turn_around(problem)}"
    return ""


def _turn_around(problem: str) -> str:
    return problem.removesuffix(", which is gone")


def _build_least_call(signature: Signature) -> CallShape:
    required = list_required(signature)
    positional = sum(each.kind is ParameterKind.POSITIONAL_ONLY for each in required)
    names = tuple(each.name for each in required if each.kind is not ParameterKind.POSITIONAL_ONLY)
    return CallShape(positional, names)


def _find_refused_parameter(old: Signature, new: Signature, own: Signature) -> str:
    """Return a parameter that upstream has to pass from now on, and that the team's function does not take."""
    before = {each.name for each in old.parameters}
    added = [each for each in list_required(new) if each.name not in before]
    if any(each.kind is ParameterKind.KEYWORDS for each in own.parameters) or not added:
        return ""
    # another name in the same place takes what is passed by position
    fits = len(_list_positional(own)) >= len(_list_positional(new)) and len(old.parameters) >= len(new.parameters)
    known = {each.name for each in own.parameters}
    return "" if fits else next((each.name for each in added if each.name not in known), "")


def _find_unknown_parameter(old: Signature, new: Signature, own: Signature) -> str:
    """Return a parameter that is new upstream and that the team's function does not take, empty for none."""
    if any(each.kind is ParameterKind.KEYWORDS for each in own.parameters):
        return ""
    known = {each.name for each in (*old.parameters, *own.parameters)}
    return next((each.name for each in new.parameters if each.name not in known), "")


def _judge_mention(use: Use, old: Signature, new: Signature) -> Verdict:
    needs_more = {each.name for each in list_required(new)} - {each.name for each in old.parameters}
    loses = {each.name for each in old.parameters} - {each.name for each in new.parameters}
    if needs_more or loses:
        return Verdict(use, TouchLevel.TOUCHES, 0.25, "its parameters changed")
    return Verdict(use, TouchLevel.NO, 0.05, "it has a new optional parameter")
