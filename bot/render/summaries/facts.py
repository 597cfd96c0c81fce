"""Facts of a pull request in a few words, the same in all messages."""

from __future__ import annotations

from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.models import Evidence
from bot.domain.text.strings import format_count

# Slack allows 3,000 characters; a path of signs that are not ASCII is three times as long in an address
_MAX_URL_LENGTH = 500


def format_size(pull: PullRequest) -> str:
    """Format files and lines, such as ``2 files, +1,234 −5``."""  # noqa: RUF002 (a minus)
    return f"{format_count(pull.changed_files, 'file')}, +{pull.additions:,} −{pull.deletions:,}"  # noqa: RUF001


def format_merge_state(pull: PullRequest) -> str:
    """Format when (UTC) and by whom it was merged, or that it is not."""
    if not pull.is_merged:
        return f"not merged ({pull.state.lower()})"
    return f"merged {pull.merge_time:%Y-%m-%d %H:%M} UTC by {pull.merged_by.login}"


def build_evidence_url(pull: PullRequest, evidence: Evidence) -> str:
    """Return the address of a quote, or that of the pull request's files if it would be too long."""
    url = evidence.build_url(pull)
    return url if len(url) <= _MAX_URL_LENGTH else f"{pull.url}/files"
