"""Facts of a pull request in a few words, the same wherever they are shown."""

from __future__ import annotations

from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.models import Evidence
from bot.domain.text.strings import plural

# Slack takes 3,000 characters; a path of signs that are not ASCII is three times as long in an address
_LONGEST_URL = 500


def size(pull: PullRequest) -> str:
    """Files and lines, such as ``2 files, +1,234 −5``."""  # noqa: RUF002 (a minus)
    return f"{plural(pull.changed_files, 'file')}, +{pull.additions:,} −{pull.deletions:,}"  # noqa: RUF001


def merge_state(pull: PullRequest) -> str:
    """When (UTC) and by whom it was merged, or that it is not."""
    if not pull.is_merged:
        return f"not merged ({pull.state.lower()})"
    return f"merged {pull.merge_time:%Y-%m-%d %H:%M} UTC by {pull.merged_by.login}"


def address_of(pull: PullRequest, found: Evidence) -> str:
    """Where a quote stands, or the pull request's files where that address would be too long."""
    url = found.url(pull)
    return url if len(url) <= _LONGEST_URL else f"{pull.url}/files"
