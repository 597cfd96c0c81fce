"""One pull request and its summary as JSON, for scripts."""

from __future__ import annotations

from typing import Any

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.models import PullRequest
from bot.domain.review.models import BugReview
from bot.domain.review.ranking import is_worth_listing
from bot.domain.summaries.fallback import describe_fallback
from bot.domain.summaries.models import Evidence


def build_summary_json(entry: Entry) -> dict[str, Any]:
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
        "type": summary.type.value,
        "headline": summary.headline,
        "what_changed_and_why": summary.what_changed_and_why,
        "technical_impact": summary.technical_impact,
        "potential_risks": summary.potential_risks,
        "risks": [{"claim": risk.claim, "where": risk.where, "kind": risk.kind} for risk in summary.risks],
        "key_insights": summary.key_insights,
        "risk_reason": summary.risk_reason,
        "action": summary.action,
        "evidence": [_build_evidence_json(pull, quote) for quote in summary.evidence],
        "coverage": summary.coverage.value,
        "left_out": list(summary.left_out),
        "fallback": describe_fallback(summary.fallback) or None,
        "risk": {
            "listed": is_worth_listing(entry),
            "reasons": list(entry.risk.reasons),
            "without_history": entry.risk.without_history,
        },
        "review": _build_review_json(pull, entry.review) if entry.review else None,
        "from_cache": entry.from_cache,
        "cost_usd": entry.cost,
    }


def _build_review_json(pull: PullRequest, review: BugReview) -> dict[str, Any]:
    """Return a review as plain values."""
    findings = [
        {
            "status": finding.status.value,
            "consequence": finding.consequence,
            "trigger": finding.trigger,
            "affected": finding.affected,
            "certainty": finding.certainty.value,
            "advice": finding.advice.value,
            "evidence": _build_evidence_json(pull, finding.evidence) if finding.evidence else None,
        }
        for finding in review.ranked_findings
    ]
    return {"verdict": review.verdict.value, "findings": findings, "refuted": review.refuted}


def _build_evidence_json(pull: PullRequest, evidence: Evidence) -> dict[str, Any]:
    """Return a quote as plain values."""
    place = {"path": evidence.path, "quote": evidence.quote, "side": evidence.side.value, "line": evidence.line}
    return {**place, "url": evidence.build_url(pull)}
