"""The recorded merges of repositories: what was known on a day, and what a day's merges look like by it."""

from __future__ import annotations

import datetime as dt
import logging
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import Generic, TypeVar

from bot.dates import LocalDay, Span
from bot.errors import DayUnavailable, GitHubAccessDenied, GitHubUnavailable, RateLimited, StoreUnavailable
from bot.features.merges.file_history import REVERT_WINDOW, FileHistory
from bot.features.merges.outcomes import ClaimMemory, MergeOutcome, RevertIndex
from bot.features.merges.relands import Reland, find_relands
from bot.features.merges.risk import Risk, assess_pull_request
from bot.features.merges.summary import log_defect
from bot.platform.pulls.models import PullRequest, remove_duplicates, sort_newest_first
from bot.platform.pulls.paths import PathClasses, PathClassesLookup, get_default_classes
from bot.platform.pulls.sources import DayMerges
from bot.platform.store.merge_records import HistoryStore
from bot.platform.worker_threads import DeadlineExecutor
from impact.history.outcomes import find_outcomes
from impact.history.revert_claims import RevertClaim
from impact.history.reverts import Revert
from impact.repository import Repository


@dataclass(frozen=True, slots=True)
class DayContext:
    """The merges of a day, before it and since, newest first, with the reverts and relands among them.

    Their texts are parsed once, when the index is built. ``day_reverts`` are the reverts for which both pull
    requests are of the day. ``claims`` say which merges revert another, by number. ``caveat`` is a clause that
    says what could not be read.
    """

    pulls: tuple[PullRequest, ...]
    outcomes: tuple[MergeOutcome, ...]
    relands: tuple[Reland, ...]
    day_reverts: tuple[Revert, ...]
    claims: Mapping[int, RevertClaim]
    caveat: str = ""

    @classmethod
    def from_pulls(cls, of_day: Iterable[PullRequest], around: Iterable[PullRequest] = ()) -> DayContext:
        """Build the context of the merges of a day and of those ``around`` it."""
        own = tuple(of_day)
        index = RevertIndex(remove_duplicates([*own, *around]))
        return cls.from_index(index, (pull.number for pull in own))

    @classmethod
    def from_index(cls, index: RevertIndex, of_day: Iterable[int], caveat: str = "") -> DayContext:
        """Build the context of an index of merges, newest first, from the numbers of those of a day."""
        # the long texts are not needed any more, and would take most of the memory
        light = tuple(replace(pull, body="", commit_message="") for pull in index.merges.by_number.values())
        day_reverts = index.select(dict.fromkeys(of_day)).reverts
        return cls(light, find_outcomes(index), find_relands(index), day_reverts, index.claims, caveat)

    def is_revert(self, number: int) -> bool:
        """Return whether a merge of the context says that it reverts another; False for others."""
        claim = self.claims.get(number)
        return claim is not None and claim.is_revert

    def select_claims(self, numbers: Iterable[int]) -> Mapping[int, RevertClaim]:
        """Return the claims of merges by number, as far as they are here."""
        return {number: self.claims[number] for number in numbers if number in self.claims}

    def assess_pulls(
        self, pulls: Iterable[PullRequest], of_day: Iterable[PullRequest], classes: PathClasses
    ) -> list[Risk]:
        """Rate pull requests of the day whose files are loaded. This is the only rating in a digest or a list.

        ``of_day`` are the merges of the day, with their files as far as they are loaded: what was merged earlier
        on the same day counts too.
        """
        history = FileHistory(remove_duplicates([*of_day, *self.pulls]), self.outcomes, classes, self.relands)
        return [self._assess_isolated(pull, classes, history) for pull in pulls]

    def _assess_isolated(self, pull: PullRequest, classes: PathClasses, history: FileHistory) -> Risk:
        """Rate a pull request. If that meets a defect, log it and return a risk without points."""
        try:
            return assess_pull_request(pull, classes, history, reverts_another=self.is_revert(pull.number))
        except Exception as error:
            log_defect(pull, error)
            return Risk(0.0, (), without_history=True)


DayLister = Callable[[Repository, LocalDay], DayMerges]


@dataclass(frozen=True, slots=True)
class MergeList:
    """The pull requests merged in some days, newest first, each once, and the caveats of that list.

    ``unavailable`` are the days without a list.
    """

    pulls: tuple[PullRequest, ...]
    caveats: tuple[str, ...]
    unavailable: tuple[dt.date, ...] = ()


def list_day(merged_on: DayLister, repository: Repository, day: LocalDay) -> DayMerges | DayUnavailable:
    """List what was merged on a day, or return the error that says why the list is unavailable.

    Raises:
        Exception: what ``merged_on`` raises apart from DayUnavailable.
    """
    try:
        return merged_on(repository, day)
    except DayUnavailable as error:
        return error


def combine_lists(lists: Iterable[DayMerges | DayUnavailable]) -> MergeList:
    """Combine the lists of days. A day without a list becomes a caveat.

    Raises:
        DayUnavailable: no day has a list.
    """
    days = tuple(lists)
    available = [each for each in days if isinstance(each, DayMerges)]
    unavailable = [each for each in days if isinstance(each, DayUnavailable)]
    if unavailable and not available:
        raise unavailable[-1]
    by_number = {pull.number: pull for each in available for pull in each.pulls}
    day_caveats = [
        *(str(each).rstrip(".") for each in unavailable),
        *(each.caveat for each in available if each.caveat),
    ]
    return MergeList(sort_newest_first(tuple(by_number.values())), tuple(dict.fromkeys(day_caveats)))


class MergeLister:
    """Lister of merges. ``merged_on`` lists those of a day, and is called for ``workers`` days at a time."""

    def __init__(self, merged_on: DayLister, workers: int) -> None:
        self._merged_on = merged_on
        self._workers = workers

    def list_days(self, repository: Repository, days: Iterable[LocalDay]) -> Sequence[DayMerges | DayUnavailable]:
        """Return the list of each day, or the error that says why there is none. Raises as :func:`list_day`."""
        with DeadlineExecutor(self._workers, "merges") as crew:
            return crew.map_items(partial(list_day, self._merged_on, repository), days)

    def list_merges(self, repository: Repository, span: Span) -> MergeList:
        """Return the merges of some days, without files.

        Raises:
            DayUnavailable: no day has a list.
            Exception: what ``merged_on`` raises.
        """
        lists = self.list_days(repository, span.days)
        days = zip(span.days, lists, strict=True)
        unavailable = tuple(day.date for day, each in days if isinstance(each, DayUnavailable))
        return replace(combine_lists(lists), unavailable=unavailable)


log = logging.getLogger(__name__)

# before the time that the rules look back at; 19 of 20 reverts come within a month of what they revert
LOOK_BACK = REVERT_WINDOW + timedelta(days=30)
# a revert of a day's merge is worth reporting for two weeks
LOOK_AHEAD = timedelta(days=14)
# a process that answers about single pull requests reads a repository's history at most this often
_CACHE_LIFETIME = timedelta(minutes=10)
_MAX_CACHED = 4
# days: on Monday, a digest is about Friday
_RECENT_DAYS = 3
_DAY = timedelta(days=1)
_MONTH = timedelta(days=31)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _CachedValue(Generic[T]):
    """A value, the instant at which it was computed, and what it depends on."""

    value: T
    source: Hashable
    cached_at: datetime


class MergeTimeline:
    """Reader of the merges around days.

    ``history`` returns the recorded merges, ``merged_on`` GitHub's list of a day.
    """

    def __init__(
        self,
        history: Callable[[], HistoryStore],
        merged_on: DayLister,
        now: Callable[[], datetime],
        classes_of: PathClassesLookup = get_default_classes,
    ) -> None:
        self._history = history
        self._merged_on = merged_on
        self._now = now
        self._classes_of = classes_of
        self._pasts: dict[str, _CachedValue[FileHistory]] = {}
        self._arounds: dict[str, _CachedValue[DayContext]] = {}
        self._claims = ClaimMemory()
        self._lock = threading.Lock()

    def read_merges(self, repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
        """Return the recorded merges between two instants, newest first. Raise StoreUnavailable."""
        return tuple(self._history().read_merges(repository, since, until))

    def read_merges_or_none(
        self, repository: Repository, since: datetime, until: datetime
    ) -> tuple[PullRequest, ...]:
        """Return the recorded merges; empty, with a line in the log, if the store is away."""
        try:
            return self.read_merges(repository, since, until)
        except StoreUnavailable as error:
            log.info("without history: %s", error)
            return ()

    def index_pulls(self, pulls: Iterable[PullRequest]) -> RevertIndex:
        """Build the index of merges; texts that were parsed for another index are not parsed again."""
        return self._claims.index_pulls(pulls)

    def record_merges(self, pulls: Sequence[PullRequest]) -> None:
        """Record merges. A failure is only logged."""
        try:
            self._history().record_merges(pulls)
        except StoreUnavailable as error:
            log.warning("history is not recorded: %s", error)

    def record_day(self, repository: Repository, day: LocalDay) -> None:
        """Record what was merged in a day, if its list is available.

        Raises:
            StoreUnavailable: the merges can't be recorded.
            Exception: what the list of the day raises.
        """
        self._history().record_merges(self._list_available(repository, day))

    def load_day_context(self, repository: Repository, day: LocalDay, merged: Sequence[PullRequest]) -> DayContext:
        """Return the merges of a day among those recorded before it and those merged since.

        A digest is posted hours after its day, and by then two of five reverts of the day are merged. The result
        is cached for ten minutes, so that a hundred channels with the same digest do not read half a year a
        hundred times.
        """
        name, now = f"{repository} {day.date} {day.zone}".lower(), self._now()
        numbers = tuple(pull.number for pull in merged)
        with self._lock:
            cached = self._arounds.get(name)
            if (
                cached is None
                or cached.source != numbers
                or now - cached.cached_at > _CACHE_LIFETIME
                or cached.value.caveat
            ):
                cached = _CachedValue(self._build_day_context(repository, day, merged), numbers, now)
                _cache_value(self._arounds, name, cached)
            return cached.value

    def _build_day_context(
        self, repository: Repository, day: LocalDay, merged: Sequence[PullRequest]
    ) -> DayContext:
        """Read the merges before the day and since. A failure of GitHub becomes a caveat."""
        recorded = self.read_merges_or_none(repository, day.start - LOOK_BACK, day.end + LOOK_AHEAD)
        recorded = tuple(pull for pull in recorded if pull.merge_time not in day)
        try:
            listed = [
                pull
                for after in self._list_following_days(day)
                for pull in self._list_available(repository, after)
            ]
        except (GitHubAccessDenied, GitHubUnavailable, RateLimited) as error:
            caveat = f"what was reverted since is not known ({str(error).rstrip('.')})"
            return self._connect_merges(merged, recorded, caveat)
        return self._connect_merges(merged, [*listed, *recorded])

    def _connect_merges(
        self, merged: Sequence[PullRequest], around: Sequence[PullRequest], caveat: str = ""
    ) -> DayContext:
        """Return the context of a day. The days of an overview have most of their surroundings in common."""
        index = self.index_pulls(remove_duplicates([*merged, *around]))
        return DayContext.from_index(index, (pull.number for pull in merged), caveat)

    def _list_available(self, repository: Repository, day: LocalDay) -> tuple[PullRequest, ...]:
        """Return the merges of a day; empty if its list is unavailable."""
        listed = list_day(self._merged_on, repository, day)
        return () if isinstance(listed, DayUnavailable) else listed.pulls

    def _list_following_days(self, day: LocalDay) -> Sequence[LocalDay]:
        """Return the days from a day up to now if there are at most three. Later merges are recorded already."""
        now = self._now()
        days = [LocalDay(day.date + n * _DAY, day.zone) for n in range(1, _RECENT_DAYS + 1)]
        return [after for after in days if after.start <= now] if now < days[-1].end else ()

    def assess_risk(self, pull: PullRequest) -> Risk:
        """Rate one pull request by the rules, with what was recorded before it, as a digest of its day does.

        It is rated without history, and ``Risk.without_history`` says so, if it is not merged, if less than 90
        days are recorded before it, or if the store is unavailable. Its own texts are searched for a revert, not
        their recorded copy, which may be older or cut.
        """
        past = self._load_past(pull.repository, pull.merge_time) if pull.merged_at else None
        is_revert = self._claims.get_claim(pull).is_revert
        return assess_pull_request(pull, self._classes_of(pull.repository), past, reverts_another=is_revert)

    def _load_past(self, repository: Repository, at: datetime) -> FileHistory:
        """Return what the rules look back at from a month (UTC).

        It is cached for ten minutes, so that not every answer waits for half a year of merges. Months are cached
        separately, since the days of one question may be of two.
        """
        now, month = self._now(), at.astimezone(UTC).date().replace(day=1)
        name, classes = f"{repository} {month}".lower(), self._classes_of(repository)
        with self._lock:
            cached = self._pasts.get(name)
            if cached is None or now - cached.cached_at > _CACHE_LIFETIME:
                first = datetime.combine(month, time(), UTC)
                try:
                    merges = self.read_merges(repository, first - LOOK_BACK, first + _MONTH)
                except StoreUnavailable as error:
                    log.info("rated without history: %s", error)
                    return build_past(RevertIndex(()), classes)
                cached = _CachedValue(build_past(self.index_pulls(remove_duplicates(merges)), classes), month, now)
                _cache_value(self._pasts, name, cached)
            return cached.value


def _cache_value(cached: dict[str, _CachedValue[T]], name: str, value: _CachedValue[T]) -> None:
    """Cache a value, and drop the oldest one if there are more than four."""
    cached.pop(name, None)
    cached[name] = value
    if len(cached) > _MAX_CACHED:
        del cached[next(iter(cached))]


def build_past(index: RevertIndex, classes: PathClasses) -> FileHistory:
    """Return the history of the merges of an index, with the reverts and relands among them."""
    merges = index.merges.by_number.values()
    return FileHistory(merges, find_outcomes(index), classes, find_relands(index))
