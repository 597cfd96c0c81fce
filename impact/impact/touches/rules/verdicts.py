"""What a rule says of a pair of change and use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from impact.contract.models import PYTHON_CLASSES, ContractChange, ContractClass, MergeContract
from impact.profile.models import DerivedClass, Use, UseKind
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex

_READS = frozenset({UseKind.CALL, UseKind.INHERITED, UseKind.READ})
# how much less certain a pair is than its rule: a guard may catch the change, the type may be another one, and
# what fails in a test is seen there
_GUARD_FACTOR, _TEST_FACTOR = 0.5, 0.8


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
    name = change.name.removesuffix(".__init__")
    parts = 1 if change.subject is ContractClass.CLASS or name != change.name else 2
    return f"`{'.'.join(name.split('.')[-parts:])}`"


def judge_lost_lines(change: ContractChange, use: Use, contract: MergeContract) -> Verdict | None:
    """Judge a function of the team that has lines which upstream's own lost; None if there are none."""
    same = len(set(contract.lines.get(change.name, ())).intersection(use.lines))
    lines = f"{same} lines that stand here are" if same > 1 else "a line that stands here is"
    reason = f"{lines} gone from {quote_name(change)}"
    level = TouchLevel.MAY_BREAK if same > 1 else TouchLevel.TOUCHES
    return Verdict(use, level, 0.5, reason) if same else None


# gives the verdicts on one change, for the uses that it concerns
Rule = Callable[[ContractChange, MergeContract, ProfileIndex], Iterator[Verdict]]


def qualify_verdict(change: ContractChange, verdict: Verdict) -> Verdict:
    """Return a verdict with what its use leaves open: a nearer class, a guard, or a test."""
    use, level, weight = verdict.use, verdict.level, verdict.weight
    if _is_hidden(change, use):
        level = TouchLevel.NO
    if change.is_doubtful:
        level, weight = min(level, TouchLevel.MAY_BREAK), weight * _GUARD_FACTOR
    if use.is_guarded:
        level, weight = min(level, TouchLevel.MAY_BREAK), weight * _GUARD_FACTOR
    if use.is_test:
        weight *= _TEST_FACTOR
    return replace(verdict, level=level, weight=weight)


def _is_hidden(change: ContractChange, use: Use) -> bool:
    """Return whether a nearer class defines the member that a use leads to."""
    nearest = use.definitions[0] if use.kind in _READS and change.name in use.definitions[1:] else ""
    return bool(nearest) and nearest.rpartition(".")[2] == change.name.rpartition(".")[2]


def use_derived_class(derived: DerivedClass, ancestor: str) -> Use:
    short = derived.name.rpartition(".")[2]
    return Use(
        UseKind.SUBCLASS, ancestor, derived.path, derived.line, f"class {short}", (ancestor,), owner=derived.name
    )


# a method that changes in the same way in so many classes of one merge is a protocol of upstream; the same method
# of a single class says nothing about other objects
_PROTOCOL_CLASSES = 2


def list_possible_calls(
    change: ContractChange, contract: MergeContract, index: ProfileIndex, *, is_likely: bool = True
) -> Sequence[Use]:
    """Return the calls on objects of unknown type that are likely of a changed method, or that may be of it."""
    if change.subject is not ContractClass.METHOD:
        return ()
    method = change.name.rpartition(".")[2]
    calls = [use for use in index.list_uses(method) if use.kind is UseKind.POSSIBLE_CALL]
    return calls if calls and (not is_likely or _is_protocol(method, change, contract)) else ()


def _is_protocol(method: str, change: ContractChange, contract: MergeContract) -> bool:
    owners = {
        each.name
        for each in contract.changes
        if each.kind is change.kind and each.subject is change.subject and each.name.endswith(f".{method}")
    }
    return len(owners) >= _PROTOCOL_CLASSES
