"""Rules for what changes behind the same name: behaviour, defaults, results, deprecations."""

from __future__ import annotations

from collections.abc import Iterator

from impact.contract.models import ContractChange, MergeContract
from impact.profile.models import Use, UseKind
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex
from impact.touches.rules.verdicts import Verdict

# how likely another body concerns a use, by what the use does with it
_BEHAVIOUR = {
    UseKind.OVERRIDE: (TouchLevel.TOUCHES, 0.35, "the method that it replaces works differently"),
    UseKind.COPY: (TouchLevel.TOUCHES, 0.4, "the function that it was copied from works differently"),
    UseKind.PATCH: (TouchLevel.TOUCHES, 0.45, "the function that it replaces works differently"),
    UseKind.INHERITED: (TouchLevel.NO, 0.12, "it works differently"),
    UseKind.CALL: (TouchLevel.NO, 0.08, "it works differently"),
}


def judge_behaviour(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses(change.name):
        if use.kind in _BEHAVIOUR:
            yield Verdict(use, *_BEHAVIOUR[use.kind])


def judge_result(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses(change.name):
        if use.kind in {UseKind.CALL, UseKind.INHERITED}:
            yield Verdict(use, TouchLevel.MAY_BREAK, 0.45, "it returns something else")
        elif use.kind in {UseKind.OVERRIDE, UseKind.PATCH}:
            yield Verdict(use, TouchLevel.MAY_BREAK, 0.5, "upstream expects another result of it")


def judge_default(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses(change.name):
        yield _judge_default_use(use)


def _judge_default_use(use: Use) -> Verdict:
    if use.kind in {UseKind.CALL, UseKind.READ, UseKind.INHERITED}:
        return Verdict(use, TouchLevel.TOUCHES, 0.2, "it has another default")
    return Verdict(use, TouchLevel.NO, 0.1, "it has another default")


def judge_deprecation(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses_within(change.name):
        yield Verdict(use, TouchLevel.TOUCHES, 0.25, "it is deprecated")
