"""Rules for changed signatures, by who calls whom: the team upstream, or upstream the team's override."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from impact.contract.breaking import describe_other_kind
from impact.contract.models import ContractChange, ContractClass, MergeContract
from impact.contract.python.callers import get_called_name
from impact.profile.models import Use, UseKind
from impact.profile.names import is_telling_method
from impact.python.binding import (
    BindingProblem,
    ProblemKind,
    can_bind,
    describe_way,
    drop_receiver,
    find_binding_problem,
    get_way,
    list_required,
)
from impact.python.models import CallShape, ParameterKind, Signature
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex
from impact.touches.rules.verdicts import Verdict, judge_lost_lines, list_possible_calls, quote_name

_CALLS = frozenset({UseKind.CALL, UseKind.INHERITED, UseKind.NAMED, UseKind.POSSIBLE_CALL})
_REPLACEMENTS = frozenset({UseKind.OVERRIDE, UseKind.PATCH})
_CONSTRUCTOR = ".__init__"
# what a call of the team meets, and what a function of the team meets that upstream calls
_REFUSALS = {
    ProblemKind.TOO_MANY: "{owner} takes fewer arguments by position",
    ProblemKind.TWICE: "{owner} gets `{name}` twice",
    ProblemKind.UNKNOWN: "{owner} no longer accepts `{name}`",
    ProblemKind.MISSING: "must pass `{name}`",
}
_OWN_REFUSALS = {
    ProblemKind.TOO_MANY: "upstream now passes more arguments by position than this accepts",
    ProblemKind.TWICE: "upstream now passes `{name}` twice",
    ProblemKind.UNKNOWN: "must accept `{name}`, which upstream now passes",
    ProblemKind.MISSING: "upstream now calls it without `{name}`, which it requires",
}


def judge_signature(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    if change.old_signature is None or change.new_signature is None:
        yield from _judge_other_kind(change, index)
        return
    old, new = _view_as_caller(change, change.old_signature), _view_as_caller(change, change.new_signature)
    for use in (*_list_uses(change, index), *list_possible_calls(change, contract, index)):
        if verdict := _judge_way(change, use, old, new):
            yield verdict
        elif use.kind in _REPLACEMENTS:
            yield _judge_replacement(change, use, (old, new), contract, index)
        elif use.call is not None and use.kind in _CALLS:
            yield judge_call(quote_name(change), use, old, new, contract)
        elif use.kind is UseKind.COPY:
            reason = f"{quote_name(change)}, of which this is a copy, has other parameters"
            yield Verdict(use, TouchLevel.TOUCHES, 0.35, reason)
        else:
            yield _judge_mention(quote_name(change), use, old, new)


def _judge_other_kind(change: ContractChange, index: ProfileIndex) -> Iterator[Verdict]:
    """Judge the uses of a name that stood for what can be called and is a value now, or the other way round."""
    if change.old_signature is change.new_signature:
        return
    reason = f"{quote_name(change)} {describe_other_kind(change)}"
    for use in index.list_uses(change.name):
        fails = use.kind in {UseKind.CALL, UseKind.SUBCLASS} if change.old_signature else use.call is None
        # what a line that imports does with it stands in other lines
        yield Verdict(use, TouchLevel.BREAKS if fails else TouchLevel.MAY_BREAK, 0.7, reason)


def _judge_way(change: ContractChange, use: Use, old: Signature, new: Signature) -> Verdict | None:
    """Judge a use by the way in which something is called; None if that says nothing of the use."""
    way = describe_way(old, new)
    if use.kind is UseKind.SET and new.is_property and not new.is_settable:
        reason = f"{quote_name(change)} can no longer be set"
        return Verdict(use, TouchLevel.BREAKS, 0.85, reason) if old.is_settable else None
    if not way:
        return _judge_receiver(change, use, old, new)
    reason = f"{quote_name(change)} {way}"
    is_call = use.call is not None and use.kind in _CALLS
    if use.kind in _REPLACEMENTS:
        own = use.signature
        differs = own is not None and get_way(own) == get_way(old)
        return Verdict(use, TouchLevel.BREAKS, 0.85, f"{reason}, and upstream uses this so") if differs else None
    if old.is_class or new.is_property or old.is_property:
        # of a class, all but a call wants the class; a method that is an attribute now is no longer called
        fails = is_call != (old.is_class or old.is_property)
        if old.is_class and (is_call or use.kind is UseKind.IMPORT):
            return None
        level = TouchLevel.BREAKS if fails else TouchLevel.MAY_BREAK
        return Verdict(use, level, 0.85 if fails else 0.5, reason)
    if not is_call:
        return None
    is_awaited = re.search(r"\bawait\b", use.text) is not None
    if get_way(new) == "await" and is_awaited:
        return Verdict(use, TouchLevel.TOUCHES, 0.3, reason)
    return Verdict(use, TouchLevel.BREAKS, 0.9, reason)


def _judge_receiver(change: ContractChange, use: Use, old: Signature, new: Signature) -> Verdict | None:
    """Judge a call through the class, or an override, of a method that is one of objects now, or no longer."""
    before, after = (each.is_static or each.is_class_method for each in (old, new))
    if before == after or not _is_member(change):
        return None
    owner, method = change.name.split(".")[-2:]
    reason = f"{quote_name(change)} needs an object now" if before else f"{quote_name(change)} takes no object now"
    if use.kind is UseKind.OVERRIDE:
        own = use.signature
        differs = own is not None and (own.is_static or own.is_class_method) == before
        # an object that is passed as before takes the place of an argument
        return Verdict(use, TouchLevel.BREAKS, 0.7, f"{reason}, and this does not") if differs and before else None
    if use.call is None or not re.search(rf"\b{re.escape(owner)}\.{re.escape(method)}\(", use.text):
        return None
    return Verdict(use, TouchLevel.BREAKS, 0.85, reason)


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


def judge_call(
    owner: str, use: Use, old: Signature, new: Signature, contract: MergeContract | None = None
) -> Verdict:
    """Judge a call of ``owner`` by the team. ``contract`` says which lost names upstream's code still takes."""
    shape = use.call or CallShape()
    problem = find_binding_problem(new, shape)
    # a data class of the team has fields of its own
    if problem and use.signature and problem.name in {each.name for each in use.signature.parameters}:
        return Verdict(use, TouchLevel.NO, 0.1, f"{owner} has fields that this has, too")
    if problem and can_bind(old, shape):
        return Verdict(use, TouchLevel.BREAKS, 0.9, _describe(_REFUSALS, problem, owner))
    if not problem and (moved := _find_moved_argument(old, new, shape)):
        reason = f"{owner} takes another parameter in the place of `{moved}`"
        return Verdict(use, TouchLevel.BREAKS, 0.85, reason)
    if problem and (added := _find_new_problem(old, new, shape)):
        # the code is for another version, or the type is another one
        return Verdict(use, TouchLevel.MAY_BREAK, 0.6, _describe(_REFUSALS, added, owner))
    if problem:
        return Verdict(use, TouchLevel.TOUCHES, 0.2, f"{owner} has other parameters")
    names, earlier = ({each.name for each in version.parameters} for version in (new, old))
    # a constructor hands the others on to that of its base
    is_constructor = owner.strip("`").rpartition(".")[2][:1].isupper()
    for keyword in shape.keywords:
        if contract and keyword not in names and keyword in contract.ignored:
            reason = f"{owner} still accepts `{keyword}`, and ignores it"
            return Verdict(use, TouchLevel.STOPS_SILENTLY, 0.8, reason)
        is_lost = keyword in earlier and keyword not in names and not is_constructor
        if contract and is_lost and keyword not in contract.accepted:
            reason = f"{owner} takes `{keyword}` only among other arguments by name"
            return Verdict(use, TouchLevel.MAY_BREAK, 0.4, reason)
    needed = next((each.name for each in list_required(new) if each.name not in earlier | {*shape.keywords}), "")
    if needed and (shape.has_star or shape.has_double_star):
        return Verdict(use, TouchLevel.MAY_BREAK, 0.4, f"must pass `{needed}`")
    if shape.has_star or shape.has_double_star:
        reason = f"{owner} has other parameters, and arguments are passed on to it"
        return Verdict(use, TouchLevel.TOUCHES, 0.25, reason)
    return Verdict(use, TouchLevel.NO, 0.08, f"{owner} still takes the call")


def _describe(words: Mapping[ProblemKind, str], problem: BindingProblem, owner: str = "") -> str:
    return words[problem.kind].format(owner=owner, name=problem.name)


def _find_new_problem(old: Signature, new: Signature, shape: CallShape) -> BindingProblem | None:
    """Return what this change adds to why a call can't fit, None for nothing.

    The call fits neither version if the team follows an earlier release than the one before this change.
    """
    before, after = ({each.name for each in version.parameters} for version in (old, new))
    takes_all = any(each.kind is ParameterKind.KEYWORDS for each in new.parameters)
    for keyword in () if takes_all else shape.keywords:
        if keyword in before - after:
            return BindingProblem(ProblemKind.UNKNOWN, keyword)
    passed = {*shape.keywords, *_list_positional(new)[: shape.positional]}
    required = {each.name for each in list_required(old)}
    for each in () if shape.has_star or shape.has_double_star else list_required(new):
        if each.name not in required | passed:
            return BindingProblem(ProblemKind.MISSING, each.name)
    return None


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
    change: ContractChange,
    use: Use,
    versions: tuple[Signature, Signature],
    contract: MergeContract,
    index: ProfileIndex,
) -> Verdict:
    """Judge an override or a patch, which upstream calls: with what this merge's callers pass, or must pass."""
    old, new = versions
    changed = f"{quote_name(change)}, which this replaces, has other parameters"
    if use.signature is None:
        return Verdict(use, TouchLevel.MAY_BREAK, 0.4, changed)
    own = _view_as_caller(change, use.signature)
    reason, is_sure = _find_failing_call(change, (old, new, own), contract)
    if reason and is_sure and not (change.name.endswith(_CONSTRUCTOR) and index.is_called(use.owner)):
        return Verdict(use, TouchLevel.BREAKS, 0.85, reason)
    if reason:
        return Verdict(use, TouchLevel.MAY_BREAK, 0.5, reason)
    return judge_lost_lines(change, use, contract) or Verdict(use, TouchLevel.TOUCHES, 0.25, changed)


def _find_failing_call(
    change: ContractChange, versions: tuple[Signature, Signature, Signature], contract: MergeContract
) -> tuple[str, bool]:
    """Return why a call of upstream fails from now on, empty if none does, and whether that is sure.

    It is by what callers must or do pass: a call without new names may be of another class's method.
    """
    old, new, own = versions
    reason = ""
    for shape in contract.calls.get(get_called_name(change), ()):
        if can_bind(new, shape) and not can_bind(old, shape) and (problem := find_binding_problem(own, shape)):
            reason = _describe(_OWN_REFUSALS, problem)
            is_new = not {each.name for each in old.parameters}.issuperset(shape.keywords)
            if is_new or not _is_member(change) or is_telling_method(get_called_name(change)):
                return reason, True
    problem = find_binding_problem(own, _build_least_call(new))
    if problem and can_bind(own, _build_least_call(old)):
        return _describe(_OWN_REFUSALS, problem), True
    return reason, False


def _build_least_call(signature: Signature) -> CallShape:
    required = list_required(signature)
    positional = sum(each.kind is ParameterKind.POSITIONAL_ONLY for each in required)
    names = tuple(each.name for each in required if each.kind is not ParameterKind.POSITIONAL_ONLY)
    return CallShape(positional, names)


def _judge_mention(owner: str, use: Use, old: Signature, new: Signature) -> Verdict:
    needs_more = {each.name for each in list_required(new)} - {each.name for each in old.parameters}
    loses = {each.name for each in old.parameters} - {each.name for each in new.parameters}
    if needs_more or loses:
        return Verdict(use, TouchLevel.TOUCHES, 0.25, f"{owner} has other parameters")
    return Verdict(use, TouchLevel.NO, 0.05, f"{owner} has a new optional parameter")
