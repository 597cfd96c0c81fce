"""What the commands print: values that JSON can hold. README.md has the shapes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from impact.contract.models import ContractChange
from impact.contract.table import ContractTableRow
from impact.coverage import Coverage, CoveredList
from impact.evaluation.touch_evaluation import TouchEvaluation
from impact.history.merges import WrittenMerge
from impact.history.outcomes import MergeOutcome
from impact.profile.models import Use
from impact.touches.breakage.suspects import Suspect, SuspectReport
from impact.touches.deprecations import UsedDeprecation
from impact.touches.models import MergeTouches, Touch, TouchReport
from impact.touches.upgrade import FileWork, StoppingPoint, UpgradeItem, UpgradePlan

Document = dict[str, Any]


def describe_rows(rows: CoveredList[ContractTableRow]) -> Document:
    def describe(row: ContractTableRow) -> Document:
        return {
            "pr": row.number,
            "class": str(row.change.subject),
            "kind": str(row.change.kind),
            "name": row.change.name,
            "before": row.change.before,
            "after": row.change.after or row.change.new_name,
            "path": row.change.path,
            "line": row.change.line,
            "url": row.url,
        }

    return rows.to_document("changes", describe) | _list_unread(rows.coverage)


def describe_touches(report: TouchReport) -> Document:
    def describe(merge: MergeTouches) -> Document:
        return {
            "pr": merge.number,
            "title": merge.title,
            "commit": merge.commit,
            "level": merge.level.label,
            "score": round(merge.score, 4),
            "touches": [_describe_touch(touch, touch.use) | _list_uses(touch.uses) for touch in merge.touches],
        }

    facts = {
        "profile": report.profile,
        "merges": report.merges,
        "uses": report.uses,
        "judges": report.judges,
    }
    return report.touching.to_document("touching", describe) | facts | _list_unread(report.touching.coverage)


def describe_suspects(report: SuspectReport) -> Document:
    coverage = report.suspects.coverage
    return report.suspects.to_document("suspects", _describe_suspect) | {
        "since": report.since,
        "until": report.until,
        "merges": report.merges,
        "errors": [
            {"kind": each.kind.value, "owner": each.owner, "function": each.function, "names": list(each.names)}
            for each in report.trace.errors
        ],
        "omitted": coverage.qualify_count(report.omitted),
        **_list_unread(coverage),
    }


def describe_plan(plan: UpgradePlan) -> Document:
    coverage = plan.files.coverage
    return plan.files.to_document("files", _describe_work) | {
        "profile": plan.profile,
        "start": plan.start,
        "end": plan.end,
        "merges": plan.merges,
        "uses": plan.uses,
        "judges": plan.judges,
        "undone": coverage.qualify_count(plan.undone),
        "stops": [_describe_stop(stop) for stop in plan.stops],
        "deprecations": [_describe_deprecation(each) for each in plan.deprecations],
        "regressions": [_describe_regression(each) for each in plan.regressions],
        **_list_unread(coverage),
    }


def describe_evaluation(evaluation: TouchEvaluation) -> Document:
    """Return the figures of a replay; undefined ones are None."""
    dates = evaluation.dates
    values = asdict(evaluation) | {
        "dates": {"since": str(dates.since), "until": str(dates.until), "timezone": "UTC"},
        "cases": len(evaluation.cases),
        "verdict": evaluation.verdict,
    }
    document = replace_undefined(values)
    assert isinstance(document, dict)  # noqa: S101 (of a dict it makes one)
    return document


def replace_undefined(value: Any) -> Any:
    """Return the value with None for each number that is not finite."""
    if isinstance(value, dict):
        return {key: replace_undefined(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [replace_undefined(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _list_unread(coverage: Coverage) -> Document:
    return {"unread": [asdict(file) for file in coverage.files]}


def _describe_change(change: ContractChange) -> Document:
    return {
        "class": change.subject.value,
        "kind": change.kind.value,
        "name": change.name,
        "before": change.before,
        "after": change.after,
        "path": change.path,
        "line": change.line,
    }


def _describe_suspect(suspect: Suspect) -> Document:
    return {
        "pr": suspect.number,
        "title": suspect.title,
        "commit": suspect.commit,
        "merged_at": suspect.merged_at.isoformat(),
        "score": suspect.score,
        "reason": suspect.reason,
        "reverted_by": suspect.reverted_by,
        "change": suspect.change and _describe_change(suspect.change),
    }


def _describe_touch(touch: Touch, use: Use) -> Document:
    return {
        "level": touch.level.label,
        "reason": touch.tell(use),
        "action": touch.action,
        "change": _describe_change(touch.change) | {"new_name": touch.change.new_name},
    }


def _list_uses(uses: Iterable[Use]) -> Document:
    return {
        "uses": [
            {"kind": str(use.kind), "name": use.name, "path": use.path, "line": use.line, "text": use.text}
            for use in uses
        ]
    }


def _describe_item(item: UpgradeItem) -> Document:
    merges = [{"pr": each.number, "commit": each.commit, "title": each.title} for each in item.net.merges]
    return _describe_touch(item.touch, item.uses[0]) | _list_uses(item.uses) | {"merges": merges}


def _describe_work(work: FileWork) -> Document:
    return {
        "path": work.path,
        "level": work.level.label,
        "items": [_describe_item(item) for item in work.items],
    }


def _describe_stop(stop: StoppingPoint) -> Document:
    return {
        "commit": stop.commit,
        "pr": stop.number,
        "title": stop.title,
        "names": [item.touch.change.name for item in stop.items],
    }


def _describe_deprecation(used: UsedDeprecation) -> Document:
    entry = used.entry
    return {
        "class": entry.subject.value,
        "name": entry.name,
        "pr": entry.number,
        "when": entry.when,
        "replacement": entry.replacement,
        "text": entry.text,
        "path": entry.path,
        "line": entry.line,
    } | _list_uses(used.uses)


def _describe_regression(outcome: MergeOutcome[WrittenMerge]) -> Document:
    return {
        "pr": outcome.pull.number,
        "title": outcome.pull.title,
        "kind": outcome.kind.value,
        "by": outcome.by.number,
    }
