"""Rules for deployers and clients: flags, variables, metrics, fields, ops, pins."""

from __future__ import annotations

from collections.abc import Iterator

from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex, split_field
from impact.touches.rules.verdicts import Verdict

_LOST = frozenset({ChangeKind.REMOVED, ChangeKind.RENAMED, ChangeKind.MOVED})
_GONE = (TouchLevel.BREAKS, 0.85, "it is gone")
_IGNORED = (TouchLevel.STOPS_SILENTLY, 0.8, "it is gone: upstream still takes it, and ignores it")
# what nobody misses where it is set or asked for
_SILENT = {
    ContractClass.ENVIRONMENT: (TouchLevel.STOPS_SILENTLY, 0.85, "it is gone: to set it does nothing any more"),
    ContractClass.METRIC: (TouchLevel.STOPS_SILENTLY, 0.85, "it is gone: queries of it return nothing"),
}
_KEPT = (TouchLevel.TOUCHES, 0.3, "the old name goes, and still works")
_VERDICTS = {
    ChangeKind.SIGNATURE: (TouchLevel.MAY_BREAK, 0.6, "its type changed"),
    ChangeKind.DEFAULT: (TouchLevel.TOUCHES, 0.25, "it has another default"),
    ChangeKind.DEPRECATED: (TouchLevel.TOUCHES, 0.3, "it is deprecated"),
    ChangeKind.RETURN: (TouchLevel.MAY_BREAK, 0.5, "it returns something else"),
}
# what its lines before and after differ in
_SHAPES = {
    ContractClass.FLAG: "its values changed",
    ContractClass.METRIC: "its type or labels changed",
    ContractClass.OP: "its parameters changed",
}
# a field of the same name may be that of another class
_FIELD_FACTOR = 0.6


def judge_plain_name(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    judgement = _judge_change(change, contract)
    if judgement is None:
        return
    level, weight, reason = judgement
    for use in index.list_plain_uses(change.name):
        # an attribute of upstream's module is not there
        fails = level is TouchLevel.STOPS_SILENTLY and f"envs.{change.name}" in use.text
        yield Verdict(use, *(_GONE if fails else (level, weight, reason)))
    owner, _ = split_field(change.name)
    for use in index.list_field_uses(change.subject, change.name):
        doubt = f"{reason}, if it is that of {owner}"
        yield Verdict(use, min(level, TouchLevel.MAY_BREAK), weight * _FIELD_FACTOR, doubt)


def _judge_change(change: ContractChange, contract: MergeContract) -> tuple[TouchLevel, float, str] | None:
    if change.kind in _LOST:
        if change.is_importable:
            return _KEPT
        if change.subject is ContractClass.CONFIGURATION and split_field(change.name)[1] in contract.ignored:
            return _KEPT if change.new_name else _IGNORED
        return _SILENT.get(change.subject, _GONE)
    if change.kind is ChangeKind.SIGNATURE and change.subject in _SHAPES:
        return *_VERDICTS[change.kind][:2], _SHAPES[change.subject]
    return _VERDICTS.get(change.kind)
