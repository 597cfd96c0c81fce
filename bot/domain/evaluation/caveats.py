"""Caveats on the figures of an evaluation, each a sentence with advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from bot.domain.evaluation.labels import LABEL_MATURITY
from bot.domain.evaluation.path_shares import USUAL_SHARE, NonProductShare
from bot.domain.history.file_history import MIN_HISTORY
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.strings import collapse_lines, format_count

# share of commits: if fewer name a pull request, most merges are not recognized
_MIN_NAMED_SHARE = 0.5


def check_path_classes(share: NonProductShare) -> Iterator[str]:
    """Yield a caveat if the path classes do not fit."""
    if share.is_too_large:
        listing = ", ".join(
            f"{collapse_lines(place.pattern)} ({place.kind}) in {place.pulls:,}" for place in share.places
        )
        yield (
            f"{share.share:.0%} of the pull requests touch neither product nor build files; "
            f"{USUAL_SHARE:.0%} is usual. A path class does not fit this repository: most of them touch "
            f"{listing}."
        )


def check_history(pulls: Sequence[PullRequest], start: datetime) -> Iterator[str]:
    """Yield a caveat if the history before the window is too short; ``pulls`` are not empty, oldest first."""
    length = max(start - pulls[0].merge_time, timedelta())
    if length < MIN_HISTORY:
        yield (
            f"There are {format_count(length.days, 'day')} of history before the window. The rules on fixes "
            f"and reverts of files need {MIN_HISTORY.days}."
        )


def check_reverts(count: int) -> Iterator[str]:
    """Yield a caveat if there is no revert to measure with; ``count`` is the number of reverts."""
    if not count:
        yield (
            "No revert was found: reverts here have other titles, or name no pull request. So the rules on "
            "reverted files and titles have no effect, and R is empty."
        )


def check_merge_names(named: int, commits: int) -> Iterator[str]:
    """Yield a caveat if most commits of the window are no merges of pull requests."""
    if commits and named < _MIN_NAMED_SHARE * commits:
        yield (
            f"Only {named:,} of {format_count(commits, 'commit')} in the window name a pull request: "
            'merges must have titles such as "Title (#7)" or "Merge pull request #7".'
        )


def check_maturity(pulls: Sequence[PullRequest], last: datetime) -> Iterator[str]:
    """Yield a caveat on merges that were too recent at ``last``, the time of the last known commit."""
    young = sum(last - pull.merge_time < LABEL_MATURITY for pull in pulls)
    if young:
        yield (
            f"{format_count(young, 'pull request')} merged less than {LABEL_MATURITY.days} days before "
            "the last commit: some of them may still be reverted."
        )


def check_clone_depth(*, is_shallow: bool) -> Iterator[str]:
    """Yield a caveat if the clone does not have the full history."""
    if is_shallow:
        yield "The clone is shallow, so older merges are missing: load them with git fetch --unshallow."
