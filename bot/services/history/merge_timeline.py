"""What is known of a repository besides the days that are asked about: what came before them, and since."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Generic, TypeVar

from bot.domain.errors import DayUnavailable, GitHubRefused, GitHubUnavailable, RateLimited, StoreUnavailable
from bot.domain.history.file_history import REVERTS_WITHIN, Past
from bot.domain.history.outcomes import TakenBack, outcomes_among
from bot.domain.history.relands import Reland, relands_among
from bot.domain.pull_requests.models import PullRequest, Repository, each_once
from bot.domain.pull_requests.path_classes import ClassesOf, PathClasses, default_classes
from bot.domain.risk.assessment import Risk, assess
from bot.domain.time.day import LocalDay
from bot.ports import History
from bot.services.history.merge_lists import MergedOn, list_day

log = logging.getLogger(__name__)

# of what the rules look back at; a revert comes within a month of what it takes back, 19 times of 20
BACK = REVERTS_WITHIN + timedelta(days=30)
# what takes back of a day is worth a word for two weeks
ON = timedelta(days=14)
# a process that answers about single pull requests reads the history of a repository so often
_FRESH = timedelta(minutes=10)
_MOST_KEPT = 4
# days: Monday tells of Friday
_RECENT = 3
_DAY = timedelta(days=1)
_MONTH = timedelta(days=31)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Around:
    """A day among the merges before it and since, newest first, and what they say of each other.

    ``doubt`` says, as a clause, what could not be asked.
    """

    pulls: tuple[PullRequest, ...]
    outcomes: tuple[TakenBack, ...]
    relands: tuple[Reland, ...]
    doubt: str = ""

    @classmethod
    def of(cls, pulls: Iterable[PullRequest], doubt: str = "") -> Around:
        """What some merges say of each other."""
        known = each_once(pulls)
        # descriptions have been read then, and would be most of what is held
        light = tuple(replace(pull, body="", commit_message="") for pull in known)
        return cls(light, outcomes_among(known), tuple(relands_among(known)), doubt)

    def past(self, of_day: Iterable[PullRequest], classes: PathClasses) -> Past:
        """What the rules look back at; ``of_day`` are pull requests of the day, with their files."""
        return Past(each_once([*of_day, *self.pulls]), self.outcomes, classes, self.relands)


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    """What was made at an instant of what it depends on."""

    value: T
    of: Hashable
    at: datetime


class Chronicle:
    """Looks around days. ``history`` gives what was recorded, ``merged_on`` the list of a day from GitHub."""

    def __init__(
        self,
        history: Callable[[], History],
        merged_on: MergedOn,
        now: Callable[[], datetime],
        classes_of: ClassesOf = default_classes,
    ) -> None:
        self._history = history
        self._merged_on = merged_on
        self._now = now
        self._classes_of = classes_of
        self._pasts: dict[str, _Kept[Past]] = {}
        self._arounds: dict[str, _Kept[Around]] = {}
        self._lock = threading.Lock()

    def read(self, repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
        """What was recorded of merges, newest first. Raises StoreUnavailable."""
        return tuple(self._history().read(repository, since, until))

    def recorded(self, repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
        """The same; nothing where the store is away, which the log says."""
        try:
            return self.read(repository, since, until)
        except StoreUnavailable as error:
            log.info("without history: %s", error)
            return ()

    def record(self, pulls: Sequence[PullRequest]) -> None:
        """What was merged is history; nothing fails for want of it."""
        try:
            self._history().record(pulls)
        except StoreUnavailable as error:
            log.warning("history is not recorded: %s", error)

    def follow(self, repository: Repository, day: LocalDay) -> None:
        """Record what was merged in a day, if it is known.

        Raises StoreUnavailable, and what else the list of a day raises.
        """
        self._history().record(self._known_on(repository, day))

    def around(self, repository: Repository, day: LocalDay, merged: Sequence[PullRequest]) -> Around:
        """What was ``merged`` in a day among what was recorded before, and what was merged since.

        A digest is posted hours after its day: by then two of five reverts of the day are merged. It is kept for a
        while: a hundred channels that get the same day shall not have half a year read a hundred times.
        """
        name, now = f"{repository} {day.date} {day.zone}".lower(), self._now()
        of = tuple(pull.number for pull in merged)
        with self._lock:
            kept = self._arounds.get(name)
            if kept is None or kept.of != of or now - kept.at > _FRESH or kept.value.doubt:
                kept = _Kept(self._looked_around(repository, day, merged), of, now)
                _keep(self._arounds, name, kept)
            return kept.value

    def _looked_around(self, repository: Repository, day: LocalDay, merged: Sequence[PullRequest]) -> Around:
        known = self.recorded(repository, day.start - BACK, day.end + ON)
        known = tuple(pull for pull in known if pull.merge_time not in day)
        try:
            listed = [pull for after in self._since(day) for pull in self._known_on(repository, after)]
        except (GitHubRefused, GitHubUnavailable, RateLimited) as error:
            doubt = f"what was reverted since is not known ({str(error).rstrip('.')})"
            return Around.of([*merged, *known], doubt)
        return Around.of([*merged, *listed, *known])

    def _known_on(self, repository: Repository, day: LocalDay) -> tuple[PullRequest, ...]:
        found = list_day(self._merged_on, repository, day)
        return () if isinstance(found, DayUnavailable) else found.pulls

    def _since(self, day: LocalDay) -> Sequence[LocalDay]:
        """The days after one up to now, if they are few: what was merged long ago was recorded then."""
        now = self._now()
        days = [LocalDay(day.date + n * _DAY, day.zone) for n in range(1, _RECENT + 1)]
        return [after for after in days if after.start <= now] if now < days[-1].end else ()

    def rate(self, pull: PullRequest) -> Risk:
        """Rate one pull request by the rules, with what was recorded before it, as a digest of its day does.

        It is rated without history, and ``Risk.without_history`` says so, where it is not merged, less than 90
        days are recorded before it, or the store is away.
        """
        past = self._past(pull.repository, pull.merge_time) if pull.merged_at else None
        return assess(pull, self._classes_of(pull.repository), past)

    def _past(self, repository: Repository, at: datetime) -> Past:
        """Return what the rules look back at from a month (UTC).

        It is kept for ten minutes: an answer shall not wait for half a year of merges each time. Months are kept
        apart, as the days of one question may be of two.
        """
        now, month = self._now(), at.astimezone(UTC).date().replace(day=1)
        name, classes = f"{repository} {month}".lower(), self._classes_of(repository)
        with self._lock:
            kept = self._pasts.get(name)
            if kept is None or now - kept.at > _FRESH:
                first = datetime.combine(month, time(), UTC)
                try:
                    known = self.read(repository, first - BACK, first + _MONTH)
                except StoreUnavailable as error:
                    log.info("rated without history: %s", error)
                    return past_of((), classes)
                kept = _Kept(past_of(known, classes), month, now)
                _keep(self._pasts, name, kept)
            return kept.value


def _keep(kept: dict[str, _Kept[T]], name: str, value: _Kept[T]) -> None:
    """In place of what was kept, and of what was kept longest where that is too much."""
    kept.pop(name, None)
    kept[name] = value
    if len(kept) > _MOST_KEPT:
        del kept[next(iter(kept))]


def past_of(pulls: Iterable[PullRequest], classes: PathClasses) -> Past:
    """The past that merges make, with what they say of each other."""
    known = each_once(pulls)
    return Past(known, outcomes_among(known), classes, relands_among(known))
