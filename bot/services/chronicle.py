"""What is known of a repository besides the days that are asked about: what came before them, and since."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.days import LocalDay
from bot.domain.errors import GitHubRefused, GitHubUnavailable, RateLimited, StoreUnavailable
from bot.domain.outcomes import outcomes_among
from bot.domain.past import REVERTS_WITHIN, Past
from bot.domain.paths import ClassesOf, PathClasses, default_classes
from bot.domain.pulls import PullRequest, Repository, newest_first
from bot.domain.relands import relands_among
from bot.domain.risk import Risk, assess
from bot.ports import History, Merged

log = logging.getLogger(__name__)

# of what the rules look back at; a revert comes within a month of what it takes back, 19 times of 20
BACK = REVERTS_WITHIN + timedelta(days=30)
# what takes back of a day is worth a word for two weeks
ON = timedelta(days=14)
# a process that answers about single pull requests reads the history of a repository so often
_FRESH = timedelta(minutes=10)
_MOST_KEPT = 4
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Around:
    """Merges before a day and since, newest first; ``doubt`` says, as a clause, what could not be asked."""

    pulls: tuple[PullRequest, ...]
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class _Kept:
    past: Past
    first: datetime
    last: datetime
    at: datetime


class Chronicle:
    """Looks around days. ``history`` gives what was recorded, ``merged_on`` the list of a day from GitHub."""

    def __init__(
        self,
        history: Callable[[], History],
        merged_on: Callable[[Repository, LocalDay], Merged],
        now: Callable[[], datetime],
        classes_of: ClassesOf = default_classes,
    ) -> None:
        self._history = history
        self._merged_on = merged_on
        self._now = now
        self._classes_of = classes_of
        self._kept: dict[str, _Kept] = {}
        self._lock = threading.Lock()

    def recorded(self, repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
        """What was recorded of merges, newest first; nothing where the store is away, which the log says."""
        try:
            return tuple(self._history().read(repository, since, until))
        except StoreUnavailable as error:
            log.info("without history: %s", error)
            return ()

    def record(self, pulls: Sequence[PullRequest]) -> None:
        """What was merged is history; nothing fails for want of it."""
        try:
            self._history().record(pulls)
        except StoreUnavailable as error:
            log.warning("history is not recorded: %s", error)

    def listed(self, repository: Repository, day: LocalDay) -> tuple[PullRequest, ...]:
        """What was merged in a day, which is recorded. Raises what the list of a day raises."""
        pulls = self._merged_on(repository, day).pulls
        self.record(pulls)
        return pulls

    def around(self, repository: Repository, day: LocalDay) -> Around:
        """What was recorded before a day and since, and what was merged on the next one, if that is recent.

        A digest is posted hours after its day: by then two of five reverts of the day are merged.
        """
        known = self.recorded(repository, day.start - BACK, day.end + ON)
        after, now = LocalDay(day.date + _DAY, day.zone), self._now()
        if not after.start <= now < after.end + _DAY:
            return Around(_outside(day, known))
        try:
            listed = self.listed(repository, after)
        except (GitHubRefused, GitHubUnavailable, RateLimited) as error:
            return Around(_outside(day, known), f"what was reverted since is not known ({str(error).rstrip('.')})")
        return Around(_outside(day, each_once([*listed, *known])))

    def rate(self, pull: PullRequest) -> Risk:
        """What the rules say of one pull request, with what was recorded before it."""
        past = self._past(pull.repository, pull.merge_time) if pull.merged_at else None
        return assess(pull, self._classes_of(pull.repository), past)

    def _past(self, repository: Repository, at: datetime) -> Past:
        """Kept for a while: an answer shall not wait for half a year of merges each time."""
        name, now = str(repository).lower(), self._now()
        with self._lock:
            kept = self._kept.get(name)
            if kept is None or not kept.first <= at <= kept.last or now - kept.at > _FRESH:
                first, last = at - ON, at + ON
                known = self.recorded(repository, first - BACK, last)
                kept = _Kept(past_of(known, self._classes_of(repository)), first, last, now)
                self._kept.pop(name, None)
                self._kept[name] = kept
                while len(self._kept) > _MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
            return kept.past


def past_of(pulls: Iterable[PullRequest], classes: PathClasses) -> Past:
    """The past that merges make, with what they say of each other."""
    known = each_once(pulls)
    return Past(known, outcomes_among(known), classes, relands_among(known))


def each_once(pulls: Iterable[PullRequest]) -> tuple[PullRequest, ...]:
    """Newest first; of several that have one number the first, but one with files before one without."""
    found: dict[int, PullRequest] = {}
    for pull in pulls:
        if pull.number not in found or (found[pull.number].files is None and pull.files is not None):
            found[pull.number] = pull
    return newest_first(tuple(found.values()))


def _outside(day: LocalDay, pulls: Sequence[PullRequest]) -> tuple[PullRequest, ...]:
    return tuple(pull for pull in pulls if pull.merge_time not in day)
