"""Rules for what changes behind the same name: behavior, defaults, results, deprecations."""

from __future__ import annotations

from collections.abc import Iterator

from impact.contract.breaking import describe_default
from impact.contract.models import ContractChange, MergeContract
from impact.profile.models import UseKind
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex
from impact.touches.rules.possible_calls import list_possible_calls
from impact.touches.rules.verdicts import Verdict, quote_name

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
        if use.kind in _BEHAVIOUR:
            level, weight, reason = _BEHAVIOUR[use.kind]
            yield Verdict(use, level, weight, reason.format(quote_name(change)))


def judge_result(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    """Judge by how many values a call takes, or a function of the team gives; else by that they differ."""
    name = quote_name(change)
    before, after = (each.results if each else 0 for each in (change.old_signature, change.new_signature))
    likely = list_possible_calls(change, contract, index)
    for use in (*index.list_uses(change.name), *list_possible_calls(change, contract, index, is_likely=False)):
        is_call = use.kind in _CALLS
        own = use.call.unpacked if use.call and is_call else use.signature.results if use.signature else 0
        if before and after and own == before:
            words = f"{name} returns {after} values now" if is_call else f"must return {after} values"
            is_sure = use.kind is not UseKind.POSSIBLE_CALL or use in likely
            level, weight = (TouchLevel.BREAKS, 0.9) if is_sure else (TouchLevel.MAY_BREAK, 0.5)
            yield Verdict(use, level, weight, words)
        elif own and own == after:
            yield Verdict(use, TouchLevel.NO, 0.1, f"{name} returns what this expects")
        elif use.kind in {UseKind.CALL, UseKind.INHERITED}:
            yield Verdict(use, TouchLevel.MAY_BREAK, 0.45, f"{name} returns something else")
        elif use.kind in {UseKind.OVERRIDE, UseKind.PATCH}:
            yield Verdict(use, TouchLevel.MAY_BREAK, 0.5, f"upstream expects another result of {name}")


def judge_default(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses(change.name):
        is_used = use.kind in {UseKind.CALL, UseKind.READ, UseKind.INHERITED}
        level, weight = (TouchLevel.TOUCHES, 0.2) if is_used else (TouchLevel.NO, 0.1)
        yield Verdict(use, level, weight, f"{quote_name(change)} {describe_default(change)}")


def judge_deprecation(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses_within(change.name):
        yield Verdict(use, TouchLevel.TOUCHES, 0.25, f"{quote_name(change)} is deprecated")
