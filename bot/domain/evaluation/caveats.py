"""What makes the figures of an evaluation doubtful, each as a sentence that says what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from bot.domain.evaluation.labels import MATURE
from bot.domain.evaluation.path_shares import USUAL, WithoutProduct
from bot.domain.history.file_history import ENOUGH
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.strings import one_line, plural

# where fewer commits name one, most of what was merged is not seen
_NAMED = 0.5


def on_classes(found: WithoutProduct) -> Iterator[str]:
    """Whether the path classes fit."""
    if found.is_too_much:
        named = ", ".join(f"{one_line(place.pattern)} ({place.kind}) in {place.pulls:,}" for place in found.places)
        yield (
            f"{found.share:.0%} of the pull requests touch neither product nor build files, where {USUAL:.0%} is"
            f" usual: a path class does not fit this repository. Most of them touch {named}."
        )


def on_history(pulls: Sequence[PullRequest], start: datetime) -> Iterator[str]:
    """Whether the past before the window is long enough; ``pulls`` are not empty, oldest first."""
    known = max(start - pulls[0].merge_time, timedelta())
    if known < ENOUGH:
        yield (
            f"There are {plural(known.days, 'day')} of history before the window: the rules on fixes and reverts"
            f" of files are silent until there are {ENOUGH.days}."
        )


def on_reverts(found: int) -> Iterator[str]:
    """Whether there is anything to measure by."""
    if not found:
        yield (
            "No revert was found: its reverts are not titled so or name no pull request, so the rules on reverted"
            " files and titles are silent and R is empty."
        )


def on_names(named: int, commits: int) -> Iterator[str]:
    """Whether the commits of the window are merges of pull requests."""
    if commits and named < _NAMED * commits:
        yield (
            f"Only {named:,} of {plural(commits, 'commit')} in the window name a pull request: its merges are not"
            ' squash or merge commits that do so, as "Title (#7)" and "Merge pull request #7" do.'
        )


def on_age(pulls: Sequence[PullRequest], last: datetime) -> Iterator[str]:
    """Whether what merged in the window had the time to be taken back; ``last`` is what is known last."""
    young = sum(last - pull.merge_time < MATURE for pull in pulls)
    if young:
        yield (
            f"{plural(young, 'pull request')} merged less than {MATURE.days} days before the last commit: some of"
            " them may still be taken back."
        )


def on_depth(*, is_shallow: bool) -> Iterator[str]:
    """Whether the clone holds the whole past."""
    if is_shallow:
        yield "The clone is shallow: what was merged before is missing, git fetch --unshallow brings it."
