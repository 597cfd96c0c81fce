"""History of a repository around the requested days: the merges before them, and since."""

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

# before the time that the rules look back at; 19 of 20 reverts come within a month of what they revert
BACK = REVERTS_WITHIN + timedelta(days=30)
# a revert of a day's merge is worth reporting for two weeks
ON = timedelta(days=14)
# a process that answers about single pull requests reads a repository's history at most this often
_FRESH = timedelta(minutes=10)
_MOST_KEPT = 4
# days: on Monday, a digest is about Friday
_RECENT = 3
_DAY = timedelta(days=1)
_MONTH = timedelta(days=31)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Around:
    """The merges of a day, before it and since, newest first, with the reverts and relands among them.

    ``doubt`` is a clause that says what could not be read.
    """

    pulls: tuple[PullRequest, ...]
    outcomes: tuple[TakenBack, ...]
    relands: tuple[Reland, ...]
    doubt: str = ""

    @classmethod
    def of(cls, pulls: Iterable[PullRequest], doubt: str = "") -> Around:
        """Build the context from merges."""
        merges = each_once(pulls)
        # the long texts are not needed any more, and would take most of the memory
        light = tuple(replace(pull, body="", commit_message="") for pull in merges)
        return cls(light, outcomes_among(merges), tuple(relands_among(merges)), doubt)

    def past(self, of_day: Iterable[PullRequest], classes: PathClasses) -> Past:
        """Return the history that the rules look back at.

        ``of_day`` are pull requests of the day, with their files.
        """
        return Past(each_once([*of_day, *self.pulls]), self.outcomes, classes, self.relands)


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    """A value, the instant at which it was computed, and what it depends on."""

    value: T
    of: Hashable
    at: datetime


class Chronicle:
    """Reader of the merges around days.

    ``history`` returns the recorded merges, ``merged_on`` GitHub's list of a day.
    """

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
        """Return the recorded merges between two instants, newest first. Raise StoreUnavailable."""
        return tuple(self._history().read(repository, since, until))

    def recorded(self, repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
        """Return the recorded merges; empty, with a line in the log, if the store is away."""
        try:
            return self.read(repository, since, until)
        except StoreUnavailable as error:
            log.info("without history: %s", error)
            return ()

    def record(self, pulls: Sequence[PullRequest]) -> None:
        """Record merges. A failure is only logged."""
        try:
            self._history().record(pulls)
        except StoreUnavailable as error:
            log.warning("history is not recorded: %s", error)

    def follow(self, repository: Repository, day: LocalDay) -> None:
        """Record what was merged in a day, if its list is available.

        Raises:
            StoreUnavailable: the merges can't be recorded.
            Exception: what the list of the day raises.
        """
        self._history().record(self._known_on(repository, day))

    def around(self, repository: Repository, day: LocalDay, merged: Sequence[PullRequest]) -> Around:
        """Return the merges of a day among those recorded before it and those merged since.

        A digest is posted hours after its day, and by then two of five reverts of the day are merged. The result
        is cached for ten minutes, so that a hundred channels with the same digest do not read half a year a
        hundred times.
        """
        name, now = f"{repository} {day.date} {day.zone}".lower(), self._now()
        numbers = tuple(pull.number for pull in merged)
        with self._lock:
            cached = self._arounds.get(name)
            if cached is None or cached.of != numbers or now - cached.at > _FRESH or cached.value.doubt:
                cached = _Kept(self._looked_around(repository, day, merged), numbers, now)
                _keep(self._arounds, name, cached)
            return cached.value

    def _looked_around(self, repository: Repository, day: LocalDay, merged: Sequence[PullRequest]) -> Around:
        """Read the merges before the day and since. A failure of GitHub becomes a caveat."""
        recorded = self.recorded(repository, day.start - BACK, day.end + ON)
        recorded = tuple(pull for pull in recorded if pull.merge_time not in day)
        try:
            listed = [pull for after in self._since(day) for pull in self._known_on(repository, after)]
        except (GitHubRefused, GitHubUnavailable, RateLimited) as error:
            caveat = f"what was reverted since is not known ({str(error).rstrip('.')})"
            return Around.of([*merged, *recorded], caveat)
        return Around.of([*merged, *listed, *recorded])

    def _known_on(self, repository: Repository, day: LocalDay) -> tuple[PullRequest, ...]:
        """Return the merges of a day; empty if its list is unavailable."""
        listed = list_day(self._merged_on, repository, day)
        return () if isinstance(listed, DayUnavailable) else listed.pulls

    def _since(self, day: LocalDay) -> Sequence[LocalDay]:
        """Return the days from a day up to now if there are at most three. Later merges are recorded already."""
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


def _keep(cached: dict[str, _Kept[T]], name: str, value: _Kept[T]) -> None:
    """Cache a value, and drop the oldest one if there are more than four."""
    cached.pop(name, None)
    cached[name] = value
    if len(cached) > _MOST_KEPT:
        del cached[next(iter(cached))]


def past_of(pulls: Iterable[PullRequest], classes: PathClasses) -> Past:
    """Return the history of merges, with the reverts and relands among them."""
    merges = each_once(pulls)
    return Past(merges, outcomes_among(merges), classes, relands_among(merges))
