"""Rules for deployers and clients: flags, variables, metrics, fields, ops, pins."""

from __future__ import annotations

from collections.abc import Iterator

from impact.contract.breaking import describe_breakage, describe_default, describe_loss
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.contract.surfaces.comparison import WITHOUT_EFFECT
from impact.contract.surfaces.file_facts import is_dockerfile
from impact.profile.models import UseKind
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex, split_field
from impact.touches.rules.signature_rules import judge_call
from impact.touches.rules.verdicts import Verdict, quote_name

_LOST = frozenset({ChangeKind.REMOVED, ChangeKind.RENAMED, ChangeKind.MOVED})
# the last is what follows from the loss
_GONE = (TouchLevel.BREAKS, 0.85, "")
_IGNORED = (TouchLevel.STOPS_SILENTLY, 0.8, "; upstream still accepts it, and ignores it")
_UNSEEN = (TouchLevel.STOPS_SILENTLY, 0.85, "")
# it says how upstream builds itself, or what it needs, and nothing of what it takes
_UNPINNED = (TouchLevel.TOUCHES, 0.2, " from upstream's own build")
# what nobody misses where it is set or asked for
_SILENT = frozenset({ContractClass.ENVIRONMENT, ContractClass.METRIC})
_KEPT = (TouchLevel.TOUCHES, 0.3, "; the old name still works")
_VERDICTS = {
    ChangeKind.SIGNATURE: (TouchLevel.MAY_BREAK, 0.6, "has another type"),
    ChangeKind.DEPRECATED: (TouchLevel.TOUCHES, 0.3, "is deprecated"),
    ChangeKind.RETURN: (TouchLevel.MAY_BREAK, 0.5, "returns something else"),
}
# a field of the same name may be that of another class
_FIELD_FACTOR = 0.6


def judge_plain_name(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    judgement = _judge_change(change, contract)
    if judgement is None:
        return
    level, weight, words = judgement
    reason = f"{quote_name(change)} {words}"
    for use in index.list_plain_uses(change.name):
        if change.subject is ContractClass.DEPENDENCY and use.kind is not UseKind.PIN:
            continue
        if use.call and change.old_signature and change.new_signature:
            yield judge_call(quote_name(change), use, change.old_signature, change.new_signature)
            continue
        # an attribute of upstream's module is not there
        fails = level is TouchLevel.STOPS_SILENTLY and f"envs.{change.name}" in use.text
        if fails:
            yield Verdict(use, *_GONE[:2], f"{quote_name(change)} {describe_loss(change)}")
        else:
            yield Verdict(use, level, weight, reason)
    _, field = split_field(change.name)
    for use in index.list_field_uses(change.subject, change.name):
        doubt = f"{reason}; this may be another `{field}`"
        yield Verdict(use, min(level, TouchLevel.MAY_BREAK), weight * _FIELD_FACTOR, doubt)


def _judge_change(change: ContractChange, contract: MergeContract) -> tuple[TouchLevel, float, str] | None:
    if change.kind in _LOST:
        level, weight, consequence = _judge_loss(change, contract)
        return level, weight, f"{describe_loss(change)}{consequence}"
    if change.kind is ChangeKind.DEPRECATED and change.after.endswith(WITHOUT_EFFECT):
        return TouchLevel.STOPS_SILENTLY, 0.6, "no longer has an effect"
    if change.kind is ChangeKind.DEFAULT:
        return TouchLevel.TOUCHES, 0.25, describe_default(change)
    if change.kind is ChangeKind.SIGNATURE and change.subject is ContractClass.OP:
        return *_VERDICTS[change.kind][:2], "has other parameters"
    if change.kind is ChangeKind.SIGNATURE and (effect := describe_breakage(change)):
        return *_VERDICTS[change.kind][:2], effect
    return _VERDICTS.get(change.kind)


def _judge_loss(change: ContractChange, contract: MergeContract) -> tuple[TouchLevel, float, str]:
    if change.subject is ContractClass.DEPENDENCY or is_dockerfile(change.path):
        return _UNPINNED
    if change.is_importable:
        return _KEPT
    if change.subject is ContractClass.CONFIGURATION and split_field(change.name)[1] in contract.ignored:
        return _KEPT if change.new_name else _IGNORED
    return _UNSEEN if change.subject in _SILENT else _GONE
