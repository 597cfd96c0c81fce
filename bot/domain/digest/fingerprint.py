"""The fingerprint of a digest: a short text that is equal only for digests of equal content."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from enum import Enum
from hashlib import sha256
from typing import Any

from bot.domain.digest.models import Digest, Entry
from bot.domain.digest.multi_day import MultiDayDigest
from bot.domain.digest.touches import list_contract_rows
from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.risk.assessment import Risk
from bot.domain.summaries.fallback import describe_fallback
from impact.contract.models import ContractChange
from impact.touches.models import Touch

# the number of reasons that are shown for a second look
_MAX_REASONS = 3


def compute_fingerprint(digest: Digest | MultiDayDigest, notes: Sequence[str] = ()) -> str:
    """Return the fingerprint of a digest of one day or of several, with the ``notes`` below it.

    It covers the content of the messages. The cost of a digest and the use of caches do not count; the content of
    the report is compared with the report.
    """
    data = _collect_days(digest) if isinstance(digest, MultiDayDigest) else _collect_day(digest)
    text = json.dumps([data, list(notes)], sort_keys=True, default=_encode_value)
    return sha256(text.encode()).hexdigest()[:16]


def _encode_value(value: object) -> Any:
    """Return the data of a value without the names of its class and fields, which may change with the code."""
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"A fingerprint can't cover {type(value).__name__}.")


def _collect_days(whole: MultiDayDigest) -> dict[str, Any]:
    return {
        "span": whole.span.title,
        "days": [_collect_day(digest) for digest in whole.digests],
        "unknown": [(each.date, each.reason) for each in whole.unknown_days],
        # a merge of one day may be reverted on another, and all days share one list
        "outcomes": _collect_outcomes(whole.combined.outcomes),
        "riskiest": _collect_riskiest(whole.combined.riskiest_entries),
    }


def _collect_day(digest: Digest) -> dict[str, Any]:
    overview, coverage = digest.overview, digest.review_coverage
    return {
        "name": digest.name,
        "day": (digest.day.date, digest.zone_note),
        # as it was before there were profiles, so that what is recorded still compares
        "view": [digest.view.filters, digest.view.only, *([digest.view.profile] if digest.view.profile else [])],
        "merged": (digest.merged_count, digest.hidden),
        "doubts": (digest.count.describe_caveats(digest.merged_count), digest.missing),
        # themes are not shown; they stay here, so that what is recorded still compares
        "overview": (overview.text, overview.themes, describe_fallback(overview.fallback)),
        "groups": [(label, [entry.number for entry in entries]) for label, entries in digest.group_entries()],
        "entries": [_collect_entry(entry) for entry in digest.entries],
        "outcomes": _collect_outcomes(digest.outcomes),
        "riskiest": (digest.is_reduced, _collect_riskiest(digest.riskiest_entries)),
        # nothing is added where nothing was reviewed, so that what is recorded still compares
        **({"reviewed": (coverage.eligible, coverage.reviewed, coverage.stop)} if coverage.eligible else {}),
        **({"touches": touches} if (touches := _collect_touches(digest)) else {}),
        **({"moves": [str(move) for move in digest.moves]} if digest.moves else {}),
    }


def _collect_touches(digest: Digest) -> list[Any]:
    """Return what is shown of the touches and of the contract changes; nothing without a profile."""
    report = digest.touches
    if report is None:
        return []
    hits = [(each.number, each.level, list(map(_collect_touch, each.touches))) for each in report.touching]
    rows = [(row.number, _collect_change(row.change)) for row in list_contract_rows(digest.contracts)]
    return [(report.profile, report.merges, report.uses, report.unread), hits, rows]


def _collect_touch(touch: Touch) -> tuple[Any, ...]:
    use = touch.use
    place = (use.kind, use.path, use.line, use.text, len(touch.uses))
    return touch.level, _collect_change(touch.change), place, touch.reason, touch.action


def _collect_change(change: ContractChange) -> tuple[Any, ...]:
    place = (change.path, change.side, change.line)
    return change.subject, change.kind, change.name, change.before, change.after, change.new_name, place


def _collect_entry(entry: Entry) -> tuple[Any, ...]:
    pull, summary = entry.pull, entry.summary
    return (
        (pull.url, pull.title, pull.author.login, pull.merged_by.login, pull.merged_at),
        (pull.additions, pull.deletions, pull.changed_files),
        (summary.type, summary.headline, summary.action, describe_fallback(summary.fallback), summary.coverage),
        entry.risk.tries,
        *([entry.review.verdict] if entry.review and entry.strongest_finding else []),
    )


def _collect_riskiest(entries: Iterable[Entry]) -> list[tuple[Any, ...]]:
    return [
        (entry.number, _collect_reasons(entry.risk), entry.summary.risk_reason, *_collect_finding(entry))
        for entry in entries
    ]


def _collect_finding(entry: Entry) -> list[tuple[Any, ...]]:
    """Return what a list shows of the strongest finding of an entry, if there is one."""
    finding = entry.strongest_finding
    if finding is None:
        return []
    place = (finding.evidence.path, finding.evidence.side, finding.evidence.line) if finding.evidence else ()
    return [(finding.consequence, finding.trigger, finding.status, finding.advice, place)]


def _collect_reasons(risk: Risk) -> tuple[Any, ...]:
    return risk.band.label, risk.without_history, risk.reasons[:_MAX_REASONS]


def _collect_outcomes(outcomes: Iterable[MergeOutcome]) -> list[tuple[Any, ...]]:
    return [(each.state_key, each.kind, each.lifetime, each.pull.title, each.by.title) for each in outcomes]
