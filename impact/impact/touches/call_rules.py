"""Rules for changed signatures, by who calls whom: the team upstream, or upstream the team's override.

Here is also what all rules share: a verdict, and how a change is named in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from impact.contract.breaking import describe_other_kind
from impact.contract.models import PYTHON_CLASSES, ContractChange, ContractClass, MergeContract
from impact.profile.models import Use, UseKind
from impact.profile.symbols import is_telling_method
from impact.python.models import CallShape, ParameterKind, Signature
from impact.python.signatures import (
    POSITIONAL,
    BindingProblem,
    ProblemKind,
    can_bind,
    describe_way,
    drop_receiver,
    find_binding_problem,
    get_way,
    list_required,
)
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex

NO, TOUCHES, MAY_BREAK, STOPS_SILENTLY, BREAKS = TouchLevel
_CONSTRUCTOR = ".__init__"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How much a change concerns a use, and why (``Touch.reason``). ``weight`` is from 0 to 1."""

    use: Use
    level: TouchLevel
    weight: float
    reason: str


def quote_name(change: ContractChange) -> str:
    """Return the changed name as code, as a reader knows it: a class alone, also for its constructor."""
    if change.subject not in PYTHON_CLASSES:
        return f"`{change.name.replace('`', '')}`"
    name = change.name.removesuffix(_CONSTRUCTOR)
    parts = 1 if change.subject is ContractClass.CLASS or name != change.name else 2
    return f"`{'.'.join(name.split('.')[-parts:])}`"


def judge_lost_lines(change: ContractChange, use: Use, contract: MergeContract) -> Verdict | None:
    """Judge a function of the team that has lines which upstream's own lost; None if there are none."""
    same = len(set(contract.lines.get(change.name, ())).intersection(use.lines))
    lines = f"{same} lines that stand here are" if same > 1 else "a line that stands here is"
    level = MAY_BREAK if same > 1 else TOUCHES
    return Verdict(use, level, 0.5, f"{lines} gone from {quote_name(change)}") if same else None


def list_possible_calls(change: ContractChange, index: ProfileIndex) -> Sequence[Use]:
    """Return the calls on objects of unknown type that may be of a changed method."""
    uses = index.list_uses(change.name.rpartition(".")[2]) if change.subject is ContractClass.METHOD else ()
    return [use for use in uses if use.kind is UseKind.POSSIBLE_CALL]


def list_likely_calls(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Sequence[Use]:
    """Return the possible calls of a method that changes in the same way in two classes of the merge, or in more.

    It is a protocol of upstream; the same method of a single class says nothing about other objects.
    """
    calls, end = list_possible_calls(change, index), f".{change.name.rpartition('.')[2]}"
    like = (each for each in contract.changes if (each.kind, each.subject) == (change.kind, change.subject))
    return calls if calls and len({each.name for each in like if each.name.endswith(end)}) > 1 else ()


_CALLS = frozenset({UseKind.CALL, UseKind.INHERITED, UseKind.NAMED, UseKind.POSSIBLE_CALL})
_REPLACEMENTS = frozenset({UseKind.OVERRIDE, UseKind.PATCH})
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
    name = quote_name(change)
    if change.old_signature is None or change.new_signature is None:
        if change.old_signature is not change.new_signature:
            yield from _judge_other_kind(change, index)
        return
    old, new = _view_as_caller(change, change.old_signature), _view_as_caller(change, change.new_signature)
    owner = change.name.removesuffix(_CONSTRUCTOR)
    of_class = index.list_uses(owner) if owner != change.name else ()
    made = (use for use in of_class if use.call is not None and use.kind is UseKind.CALL)
    for use in (*index.list_uses(change.name), *made, *list_likely_calls(change, contract, index)):
        if verdict := _judge_way(change, use, old, new):
            yield verdict
        elif use.kind in _REPLACEMENTS:
            yield _judge_replacement(change, use, (old, new), contract, index)
        elif use.call is not None and use.kind in _CALLS:
            yield judge_call(name, use, old, new, contract)
        elif use.kind is UseKind.COPY:
            yield Verdict(use, TOUCHES, 0.35, f"{name}, of which this is a copy, has other parameters")
        else:
            yield _judge_mention(name, use, old, new)


def _judge_other_kind(change: ContractChange, index: ProfileIndex) -> Iterator[Verdict]:
    """Judge the uses of a name that stood for what can be called and is a value now, or the other way round."""
    reason = f"{quote_name(change)} {describe_other_kind(change)}"
    for use in index.list_uses(change.name):
        fails = use.kind in {UseKind.CALL, UseKind.SUBCLASS} if change.old_signature else use.call is None
        # what a line that imports does with it stands in other lines
        yield Verdict(use, BREAKS if fails else MAY_BREAK, 0.7, reason)


def _judge_way(change: ContractChange, use: Use, old: Signature, new: Signature) -> Verdict | None:
    """Judge a use by the way in which something is called; None if that says nothing of the use."""
    way, name = describe_way(old, new), quote_name(change)
    if use.kind is UseKind.SET and new.is_property and not new.is_settable:
        return Verdict(use, BREAKS, 0.85, f"{name} can no longer be set") if old.is_settable else None
    if not way:
        return _judge_receiver(change, use, old, new)
    reason = f"{name} {way}"
    is_call = use.call is not None and use.kind in _CALLS
    if use.kind in _REPLACEMENTS:
        differs = use.signature is not None and get_way(use.signature) == get_way(old)
        return Verdict(use, BREAKS, 0.85, f"{reason}, and upstream uses this so") if differs else None
    if old.is_class and (is_call or use.kind is UseKind.IMPORT):
        return None
    if old.is_class or new.is_property or old.is_property:
        # of a class, all but a call wants the class; a method that is an attribute now is no longer called
        fails = is_call != (old.is_class or old.is_property)
        level, weight = (BREAKS, 0.85) if fails else (MAY_BREAK, 0.5)
        return Verdict(use, level, weight, reason)
    if not is_call:
        return None
    is_awaited = get_way(new) == "await" and re.search(r"\bawait\b", use.text)
    return Verdict(use, TOUCHES, 0.3, reason) if is_awaited else Verdict(use, BREAKS, 0.9, reason)


def _judge_receiver(change: ContractChange, use: Use, old: Signature, new: Signature) -> Verdict | None:
    """Judge a call through the class, or an override, of a method that is one of objects now, or no longer."""
    before, after = (each.is_static or each.is_class_method for each in (old, new))
    if before == after or change.subject is not ContractClass.METHOD:
        return None
    reason = f"{quote_name(change)} {'needs an object now' if before else 'takes no object now'}"
    if use.kind is UseKind.OVERRIDE:
        own = use.signature
        differs = own is not None and (own.is_static or own.is_class_method) == before
        # an object that is passed as before takes the place of an argument
        return Verdict(use, BREAKS, 0.7, f"{reason}, and this does not") if differs and before else None
    member = ".".join(change.name.split(".")[-2:])
    if use.call is None or not re.search(rf"\b{re.escape(member)}\(", use.text):
        return None
    return Verdict(use, BREAKS, 0.85, reason)


def _view_as_caller(change: ContractChange, signature: Signature) -> Signature:
    return drop_receiver(signature) if change.subject is ContractClass.METHOD else signature


def judge_call(
    owner: str, use: Use, old: Signature, new: Signature, contract: MergeContract | None = None
) -> Verdict:
    """Judge a call of ``owner`` by the team. ``contract`` says which lost names upstream's code still takes."""
    shape = use.call or CallShape()
    problem = find_binding_problem(new, shape)
    # a data class of the team has fields of its own
    if problem and use.signature and problem.name in _get_names(use.signature):
        return Verdict(use, NO, 0.1, f"{owner} has fields that this has, too")
    if problem and can_bind(old, shape):
        return Verdict(use, BREAKS, 0.9, _describe(_REFUSALS, problem, owner))
    if not problem and (moved := _find_moved_argument(old, new, shape)):
        return Verdict(use, BREAKS, 0.85, f"{owner} takes another parameter in the place of `{moved}`")
    if problem and (added := _find_new_problem(old, new, shape)):
        # the code is for another version, or the type is another one
        return Verdict(use, MAY_BREAK, 0.6, _describe(_REFUSALS, added, owner))
    if problem:
        return Verdict(use, TOUCHES, 0.2, f"{owner} has other parameters")
    names, earlier = _get_names(new), _get_names(old)
    # a constructor hands the others on to that of its base
    is_constructor = owner.strip("`").rpartition(".")[2][:1].isupper()
    for keyword in shape.keywords:
        if contract is None or keyword in names:
            continue
        if keyword in contract.ignored:
            return Verdict(use, STOPS_SILENTLY, 0.8, f"{owner} still accepts `{keyword}`, and ignores it")
        if keyword in earlier and not is_constructor and keyword not in contract.accepted:
            return Verdict(use, MAY_BREAK, 0.4, f"{owner} takes `{keyword}` only among other arguments by name")
    if not shape.has_star and not shape.has_double_star:
        return Verdict(use, NO, 0.08, f"{owner} still takes the call")
    for each in list_required(new):
        if each.name not in earlier | {*shape.keywords}:
            return Verdict(use, MAY_BREAK, 0.4, f"must pass `{each.name}`")
    return Verdict(use, TOUCHES, 0.25, f"{owner} has other parameters, and arguments are passed on to it")


def _describe(words: Mapping[ProblemKind, str], problem: BindingProblem, owner: str = "") -> str:
    return words[problem.kind].format(owner=owner, name=problem.name)


def _get_names(signature: Signature) -> set[str]:
    return {each.name for each in signature.parameters}


def _find_new_problem(old: Signature, new: Signature, shape: CallShape) -> BindingProblem | None:
    """Return what this change adds to why a call can't fit, None for nothing.

    The call fits neither version if the team follows an earlier release than the one before this change.
    """
    takes_all = any(each.kind is ParameterKind.KEYWORDS for each in new.parameters)
    for keyword in () if takes_all else shape.keywords:
        if keyword in _get_names(old) - _get_names(new):
            return BindingProblem(ProblemKind.UNKNOWN, keyword)
    known = {*shape.keywords, *_list_positional(new, shape), *(each.name for each in list_required(old))}
    for each in () if shape.has_star or shape.has_double_star else list_required(new):
        if each.name not in known:
            return BindingProblem(ProblemKind.MISSING, each.name)
    return None


def _find_moved_argument(old: Signature, new: Signature, shape: CallShape) -> str:
    """Return the parameter whose positional argument now goes to a parameter of another name, if both still exist.

    A parameter that was only renamed takes the same value.
    """
    for before, after in zip(_list_positional(old, shape), _list_positional(new, shape), strict=False):
        if before != after and (before in _get_names(new) or after in _get_names(old)):
            return before
    return ""


def _list_positional(signature: Signature, shape: CallShape) -> list[str]:
    """Return the names of the parameters to which a call's positional arguments go."""
    return [each.name for each in signature.parameters if each.kind in POSITIONAL][: shape.positional]


def _judge_replacement(
    change: ContractChange,
    use: Use,
    versions: tuple[Signature, Signature],
    contract: MergeContract,
    index: ProfileIndex,
) -> Verdict:
    """Judge an override or a patch, which upstream calls: with what this merge's callers pass, or must pass."""
    changed = f"{quote_name(change)}, which this replaces, has other parameters"
    if use.signature is None:
        return Verdict(use, MAY_BREAK, 0.4, changed)
    own = _view_as_caller(change, use.signature)
    reason, is_sure = _find_failing_call(change, versions, own, contract)
    if reason and is_sure and not (change.name.endswith(_CONSTRUCTOR) and index.is_called(use.owner)):
        return Verdict(use, BREAKS, 0.85, reason)
    if reason:
        return Verdict(use, MAY_BREAK, 0.5, reason)
    return judge_lost_lines(change, use, contract) or Verdict(use, TOUCHES, 0.25, changed)


def _find_failing_call(
    change: ContractChange, versions: tuple[Signature, Signature], own: Signature, contract: MergeContract
) -> tuple[str, bool]:
    """Return why a call of upstream fails from now on, empty if none does, and whether that is sure.

    It is by what callers must or do pass: a call without new names may be of another class's method.
    """
    old, new = versions
    reason, called = "", change.called_name
    for shape in contract.calls.get(called, ()):
        if can_bind(new, shape) and not can_bind(old, shape) and (problem := find_binding_problem(own, shape)):
            reason = _describe(_OWN_REFUSALS, problem)
            is_new = not _get_names(old).issuperset(shape.keywords)
            if is_new or change.subject is not ContractClass.METHOD or is_telling_method(called):
                return reason, True
    problem = find_binding_problem(own, _build_least_call(new))
    if problem and can_bind(own, _build_least_call(old)):
        return _describe(_OWN_REFUSALS, problem), True
    return reason, False


def _build_least_call(signature: Signature) -> CallShape:
    required = list_required(signature)
    names = tuple(each.name for each in required if each.kind is not ParameterKind.POSITIONAL_ONLY)
    return CallShape(len(required) - len(names), names)


def _judge_mention(owner: str, use: Use, old: Signature, new: Signature) -> Verdict:
    needs_more = {each.name for each in list_required(new)} - _get_names(old)
    if needs_more or _get_names(old) - _get_names(new):
        return Verdict(use, TOUCHES, 0.25, f"{owner} has other parameters")
    return Verdict(use, NO, 0.05, f"{owner} has a new optional parameter")
