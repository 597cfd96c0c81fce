"""What a digest tells of its days, as a short text that two digests share only if they tell the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from bot.domain.digest.models import Digest, Entry
from bot.domain.digest.multi_day import CatchUp
from bot.domain.history.outcomes import TakenBack
from bot.domain.risk.assessment import Risk

# of the reasons for a second look so many are shown
_MOST_REASONS = 3


def fingerprint_of(digest: Digest | CatchUp, notes: Sequence[str] = ()) -> str:
    """Return the fingerprint of a digest of one day or of several, with the ``notes`` below it.

    It covers what the messages show. What building it cost, and what came from the cache, tells nothing of the
    day; what only the report shows is compared with the report.
    """
    data = _several(digest) if isinstance(digest, CatchUp) else _one(digest)
    told = json.dumps([data, list(notes)], sort_keys=True, default=str)
    return sha256(told.encode()).hexdigest()[:16]


def _several(found: CatchUp) -> dict[str, Any]:
    return {
        "span": found.span.title,
        "days": [_one(digest) for digest in found.digests],
        "unknown": [(each.date, each.reason) for each in found.unknown],
        # what was merged on one day may have been taken back on another, and the list is one for all
        "outcomes": _outcomes(found.whole.outcomes),
        "riskiest": _riskiest(found.whole.riskiest),
    }


def _one(digest: Digest) -> dict[str, Any]:
    overview = digest.overview
    return {
        "name": digest.name,
        "day": (digest.day.date, digest.zone_note),
        "view": digest.view,
        "merged": (digest.merged, digest.hidden),
        "doubts": (digest.count.doubt(digest.merged), digest.missing),
        "overview": (overview.text, overview.themes, overview.fallback),
        "groups": [(label, [entry.number for entry in entries]) for label, entries in digest.groups()],
        "entries": [_entry(entry) for entry in digest.entries],
        "outcomes": _outcomes(digest.outcomes),
        "riskiest": (digest.is_sparing, _riskiest(digest.riskiest)),
    }


def _entry(entry: Entry) -> tuple[Any, ...]:
    pull, summary = entry.pull, entry.summary
    return (
        (pull.url, pull.title, pull.author.login, pull.merged_by.login, pull.merged_at),
        (pull.additions, pull.deletions, pull.changed_files),
        (summary.type, summary.headline, summary.action, summary.fallback, summary.coverage),
        entry.risk.tries,
    )


def _riskiest(entries: Iterable[Entry]) -> list[tuple[Any, ...]]:
    return [(entry.number, _reasons(entry.risk), entry.summary.risk_reason) for entry in entries]


def _reasons(risk: Risk) -> tuple[Any, ...]:
    return risk.band.label, risk.without_history, risk.reasons[:_MOST_REASONS]


def _outcomes(outcomes: Iterable[TakenBack]) -> list[tuple[Any, ...]]:
    return [(each.state, each.fate, each.lasted, each.pull.title, each.by.title) for each in outcomes]
