"""The address of a quote, as short as Slack allows."""

from __future__ import annotations

from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.models import Evidence

# Slack allows 3,000 characters; a path of signs that are not ASCII is three times as long in an address
_MAX_URL_LENGTH = 500


def build_evidence_url(pull: PullRequest, evidence: Evidence) -> str:
    """Return the address of a quote, or that of the pull request's files if it would be too long."""
    url = evidence.build_url(pull)
    return url if len(url) <= _MAX_URL_LENGTH else f"{pull.url}/files"
