"""Rules for deployers and clients: flags, variables, metrics, fields, ops, pins."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.contract.models import ChangeKind, ContractChange, MergeContract
from bot.domain.touches.models import TouchLevel
from bot.domain.touches.profile_index import ProfileIndex
from bot.domain.touches.verdicts import Verdict

_LOST = frozenset({ChangeKind.REMOVED, ChangeKind.RENAMED, ChangeKind.MOVED})
_VERDICTS = {
    ChangeKind.SIGNATURE: (TouchLevel.MAY_BREAK, 0.6, "it takes something else"),
    ChangeKind.DEFAULT: (TouchLevel.TOUCHES, 0.25, "it has another default"),
    ChangeKind.DEPRECATED: (TouchLevel.TOUCHES, 0.3, "it is deprecated"),
    ChangeKind.RETURN: (TouchLevel.MAY_BREAK, 0.5, "it returns something else"),
}


def judge_plain_name(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    """Judge the uses of a name that is not Python code."""
    for use in index.list_plain_uses(change.name):
        if change.kind in _LOST and not change.is_importable:
            yield Verdict(use, TouchLevel.BREAKS, 0.85, "it is gone")
        elif change.kind in _LOST:
            yield Verdict(use, TouchLevel.TOUCHES, 0.3, "the old name goes, and still works")
        elif change.kind in _VERDICTS:
            yield Verdict(use, *_VERDICTS[change.kind])
