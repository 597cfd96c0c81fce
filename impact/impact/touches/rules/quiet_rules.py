"""Rules for what changes behind the same name: behavior, defaults, results, deprecations."""

from __future__ import annotations

from collections.abc import Iterator

from impact.contract.breaking import describe_default
from impact.contract.models import ContractChange, MergeContract
from impact.contract.python.callers import get_called_name
from impact.profile.models import Use, UseKind
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex
from impact.touches.rules.possible_calls import list_possible_calls
from impact.touches.rules.verdicts import Verdict, judge_lost_lines, quote_name

Counts = tuple[int, ...]
_CALLS = frozenset({UseKind.CALL, UseKind.INHERITED, UseKind.POSSIBLE_CALL})
# how likely another body concerns a use, by what the use does with it
_BEHAVIOUR = {
    UseKind.OVERRIDE: (TouchLevel.TOUCHES, 0.35, "{}, which this overrides, works differently"),
    UseKind.COPY: (TouchLevel.TOUCHES, 0.4, "{}, of which this is a copy, works differently"),
    UseKind.PATCH: (TouchLevel.TOUCHES, 0.45, "{}, which this replaces, works differently"),
    UseKind.INHERITED: (TouchLevel.NO, 0.12, "{} works differently"),
    UseKind.CALL: (TouchLevel.NO, 0.08, "{} works differently"),
}


def judge_behaviour(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses(change.name):
        if lost := judge_lost_lines(change, use, contract):
            yield lost
        elif use.kind in _BEHAVIOUR:
            level, weight, reason = _BEHAVIOUR[use.kind]
            yield Verdict(use, level, weight, reason.format(quote_name(change)))


def judge_result(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    """Judge by how many values a call takes, or a function of the team gives; else by that they differ."""
    before, after = (each.results if each else () for each in (change.old_signature, change.new_signature))
    likely = list_possible_calls(change, contract, index)
    is_taken = any(shape.unpacked in after for shape in contract.calls.get(get_called_name(change), ()))
    for use in (*index.list_uses(change.name), *list_possible_calls(change, contract, index, is_likely=False)):
        if use.kind in _CALLS:
            is_sure = use.kind is not UseKind.POSSIBLE_CALL or use in likely
            yield _judge_given(quote_name(change), use, before, after, is_sure=is_sure)
        elif use.kind in {UseKind.OVERRIDE, UseKind.PATCH}:
            yield _judge_own_result(quote_name(change), use, before, after, is_sure=is_taken)


def _judge_given(name: str, use: Use, before: Counts, after: Counts, *, is_sure: bool) -> Verdict:
    """Judge a call by how many values it takes of those that it is given."""
    expected = use.call.unpacked if use.call else 0
    if not before or not any(after):
        level = TouchLevel.MAY_BREAK if use.kind is not UseKind.POSSIBLE_CALL else TouchLevel.NO
        return Verdict(use, level, 0.45, f"{name} returns something else")
    if after == (expected,):
        return Verdict(use, TouchLevel.NO, 0.1, f"{name} returns what this expects")
    reason = f"{name} returns {' or '.join(map(str, after))} values now"
    if before != (expected,):
        return Verdict(use, TouchLevel.TOUCHES if is_sure else TouchLevel.NO, 0.2, reason)
    if is_sure and expected not in after and 0 not in after:
        return Verdict(use, TouchLevel.BREAKS, 0.9, reason)
    return Verdict(use, TouchLevel.MAY_BREAK, 0.5, reason)


def _judge_own_result(name: str, use: Use, before: Counts, after: Counts, *, is_sure: bool) -> Verdict:
    """Judge a function of the team that upstream calls. ``is_sure``: it takes apart what it gets."""
    own = use.signature.results if use.signature else ()
    if len(after) == 1 and own == after:
        return Verdict(use, TouchLevel.NO, 0.1, f"this returns what {name} does")
    if len(after) == 1 and any(after) and own == before:
        level, weight = (TouchLevel.BREAKS, 0.85) if is_sure else (TouchLevel.MAY_BREAK, 0.5)
        return Verdict(use, level, weight, f"must return {after[0]} values")
    return Verdict(use, TouchLevel.MAY_BREAK, 0.5, f"upstream expects another result of {name}")


def judge_default(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses(change.name):
        is_used = use.kind in {UseKind.CALL, UseKind.READ, UseKind.INHERITED}
        level, weight = (TouchLevel.TOUCHES, 0.2) if is_used else (TouchLevel.NO, 0.1)
        yield Verdict(use, level, weight, f"{quote_name(change)} {describe_default(change)}")


def judge_deprecation(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses_within(change.name):
        yield Verdict(use, TouchLevel.TOUCHES, 0.25, f"{quote_name(change)} is deprecated")
