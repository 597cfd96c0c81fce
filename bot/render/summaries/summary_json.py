"""One pull request and its summary as JSON, for scripts."""

from __future__ import annotations

from typing import Any

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.models import Evidence


def summary_json(entry: Entry) -> dict[str, Any]:
    """Return plain values only; times are ISO 8601 in UTC, null if there is none."""
    pull, summary = entry.pull, entry.summary
    return {
        "repository": str(pull.repository),
        "number": pull.number,
        "title": pull.title,
        "url": pull.url,
        "state": pull.state,
        "author": pull.author.login,
        "merged_by": pull.merged_by.login if pull.is_merged else None,
        "merged_at": pull.merged_at.isoformat() if pull.merged_at else None,
        "additions": pull.additions,
        "deletions": pull.deletions,
        "files": [file.path for file in pull.files or ()],
        "type": said.type.value,
        "headline": said.headline,
        "what_changed_and_why": said.what_changed_and_why,
        "technical_impact": said.technical_impact,
        "potential_risks": said.potential_risks,
        "key_insights": said.key_insights,
        "risk_reason": said.risk_reason,
        "action": said.action,
        "evidence": [_evidence(pull, found) for found in said.evidence],
        "coverage": said.coverage.value,
        "left_out": list(said.left_out),
        "fallback": said.fallback or None,
        "risk": {
            "listed": entry.risk.is_listed,
            "reasons": list(entry.risk.reasons),
            "without_history": entry.risk.without_history,
        },
        "from_cache": entry.from_cache,
        "cost_usd": entry.cost,
    }


def _evidence(pull: PullRequest, evidence: Evidence) -> dict[str, Any]:
    """Return a quote as plain values."""
    place = {"path": evidence.path, "quote": evidence.quote, "side": evidence.side.value, "line": evidence.line}
    return {**place, "url": evidence.url(pull)}
