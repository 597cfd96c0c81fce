"""The recorded merges of repositories: what was known on a day, and what a day's merges look like by it."""

from __future__ import annotations

import datetime as dt
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import TypeVar

from bot.dates import LocalDay, Span
from bot.errors import DayUnavailable, GitHubAccessDenied, GitHubUnavailable, RateLimited, StoreUnavailable
from bot.features.merges.outcomes import ClaimMemory, MergeOutcome, Reland, RevertIndex, find_relands
from bot.features.merges.risk import REVERT_WINDOW, FileHistory, Risk, assess_pull_request
from bot.features.merges.summary import log_defect
from bot.platform.pulls.models import PullRequest, remove_duplicates, sort_newest_first
from bot.platform.pulls.paths import PathClasses, PathClassesLookup, get_default_classes
from bot.platform.pulls.sources import DayMerges
from bot.platform.store.merge_records import HistoryStore
from bot.platform.worker_threads import DeadlineExecutor, note_progress
from impact.coverage import COMPLETE, Coverage, CoveredPart
from impact.history.outcomes import find_outcomes
from impact.history.reverts import Revert, RevertClaim
from impact.repository import Repository


@dataclass(frozen=True, slots=True)
class DayContext:
    """The merges of a day, before it and since, newest first, with the reverts and relands among them.

    Their texts are parsed once, when the index is built. ``day_reverts`` are the reverts for which both pull
    requests are of the day. ``claims`` say which merges revert another, by number. ``coverage`` says whether what
    was merged since could be read.
    """

    pulls: tuple[PullRequest, ...]
    outcomes: tuple[MergeOutcome, ...]
    relands: tuple[Reland, ...]
    day_reverts: tuple[Revert, ...]
    claims: Mapping[int, RevertClaim]
    coverage: Coverage = COMPLETE
    # nobody can load the history of a sample, so that its ratings don't say that there is none
    is_sample: bool = False

    @classmethod
    def from_pulls(cls, of_day: Iterable[PullRequest], around: Iterable[PullRequest] = ()) -> DayContext:
        own = tuple(of_day)
        return cls.from_index(RevertIndex(remove_duplicates([*own, *around])), (pull.number for pull in own))

    @classmethod
    def from_index(cls, index: RevertIndex, of_day: Iterable[int], coverage: Coverage = COMPLETE) -> DayContext:
        """Build the context of an index of merges, newest first, from the numbers of those of a day."""
        # the long texts are not needed any more, and would take most of the memory
        light = tuple(replace(pull, body="", commit_message="") for pull in index.by_number.values())
        day_reverts = index.select(dict.fromkeys(of_day)).reverts
        return cls(light, find_outcomes(index), find_relands(index), day_reverts, index.claims, coverage)

    def is_revert(self, number: int) -> bool:
        """Return whether a merge of the context says that it reverts another; False for others."""
        claim = self.claims.get(number)
        return claim is not None and claim.is_revert

    def select_outcomes(
        self, numbers: frozenset[int]
    ) -> tuple[tuple[MergeOutcome, ...], Mapping[int, RevertClaim]]:
        """Return the outcomes in which one of some pull requests has a part, and the claims of all in them."""
        pairs = [(each, (each.pull.number, each.by.number)) for each in self.outcomes]
        outcomes = tuple(each for each, pair in pairs if not numbers.isdisjoint(pair))
        paired = numbers.union(*(pair for _, pair in pairs if not numbers.isdisjoint(pair)))
        return outcomes, {number: self.claims[number] for number in paired if number in self.claims}

    def assess_pulls(
        self, pulls: Iterable[PullRequest], of_day: Iterable[PullRequest], classes: PathClasses
    ) -> list[Risk]:
        """Rate pull requests of the day whose files are loaded. This is the only rating in a digest or a list.

        ``of_day`` are the merges of the day, with their files as far as they are loaded: what was merged earlier
        on the same day counts too. One that meets a defect, which is logged, has no points.
        """
        history = FileHistory(remove_duplicates([*of_day, *self.pulls]), self.outcomes, classes, self.relands)
        risks: list[Risk] = []
        for pull in pulls:
            is_revert = self.is_revert(pull.number)
            try:
                risk = assess_pull_request(pull, classes, history, reverts_another=is_revert)
                risks.append(replace(risk, without_history=risk.without_history and not self.is_sample))
            except Exception as error:
                log_defect(pull, error)
                risks.append(Risk(0.0, (), without_history=True))
        return risks


DayLister = Callable[[Repository, LocalDay], DayMerges]
DayList = DayMerges | DayUnavailable


@dataclass(frozen=True, slots=True)
class MergeList:
    """The pull requests merged in some days, newest first, each once, and the caveats of that list.

    ``unavailable`` are the days without a list. ``coverage`` says the same of them and of what the lists lack;
    ``notes`` are the caveats of which it says nothing.
    """

    pulls: tuple[PullRequest, ...]
    caveats: tuple[str, ...]
    unavailable: tuple[dt.date, ...] = ()
    coverage: Coverage = COMPLETE
    notes: tuple[str, ...] = ()


def list_days(
    merged_on: DayLister, workers: int, repository: Repository, days: Iterable[LocalDay]
) -> Sequence[DayList]:
    def list_day(day: LocalDay) -> DayList:
        try:
            return merged_on(repository, day)
        except DayUnavailable as error:
            return error

    with DeadlineExecutor(workers, "merges") as crew:
        return crew.map_items(list_day, days, partial(note_progress, unit="day"))


def combine_lists(days: Sequence[LocalDay], lists: Sequence[DayList]) -> MergeList:
    """Combine the lists of days. One without a list becomes a caveat; DayUnavailable is raised if none has one."""
    available = [each for each in lists if isinstance(each, DayMerges)]
    errors = [each for each in lists if isinstance(each, DayUnavailable)]
    if errors and not available:
        raise errors[-1]
    by_number = {pull.number: pull for each in available for pull in each.pulls}
    caveats = [str(each).rstrip(".") for each in errors] + [each.caveat for each in available if each.caveat]
    reason = str(errors[0]).rstrip(".") if errors else ""
    unlisted = Coverage.of(CoveredPart("days", len(errors), len(lists), reason))
    return MergeList(
        sort_newest_first(tuple(by_number.values())),
        tuple(dict.fromkeys(caveats)),
        tuple(day.date for day, each in zip(days, lists, strict=True) if isinstance(each, DayUnavailable)),
        sum((each.coverage for each in available), unlisted),
        tuple(dict.fromkeys(each.caveat for each in available if each.caveat and each.coverage.is_complete)),
    )


def list_merges(merged_on: DayLister, workers: int, repository: Repository, span: Span) -> MergeList:
    """Return the merges of some days, without files. Raises DayUnavailable if no day has a list."""
    return combine_lists(span.days, list_days(merged_on, workers, repository, span.days))


log = logging.getLogger(__name__)

# before the time that the rules look back at; 19 of 20 reverts come within a month of what they revert
LOOK_BACK = REVERT_WINDOW + timedelta(days=30)
# a revert of a day's merge is worth reporting for two weeks
LOOK_AHEAD = timedelta(days=14)
# how far from a merge others are looked for that change the same functions
NEAR_BEFORE, NEAR_AFTER = timedelta(hours=48), timedelta(hours=24)
# a process that answers about single pull requests reads a repository's history at most this often
_CACHE_LIFETIME = timedelta(minutes=10)
_MAX_CACHED = 4
# days: on Monday, a digest is about Friday
_RECENT_DAYS = 3
_DAY = timedelta(days=1)
_MONTH = timedelta(days=31)
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class NearbyMerges:
    """Recorded merges, newest first, and the outcomes among them and one or more that are not recorded yet."""

    pulls: tuple[PullRequest, ...]
    outcomes: tuple[MergeOutcome, ...]
    numbers: frozenset[int]


class MergeTimeline:
    """Reader of the merges around days.

    ``history`` returns the recorded merges, ``merged_on`` GitHub's list of a day. ``index_pulls`` parses no text
    that was parsed for another index.
    """

    def __init__(
        self,
        history: Callable[[], HistoryStore],
        merged_on: DayLister,
        now: Callable[[], datetime],
        classes_of: PathClassesLookup = get_default_classes,
        *,
        is_sample: bool = False,
    ) -> None:
        self._is_sample = is_sample
        self._history = history
        self._merged_on = merged_on
        self._now = now
        self._classes_of = classes_of
        # each with the instant at which it was built
        self._pasts: dict[str, tuple[datetime, FileHistory]] = {}
        self._arounds: dict[tuple[str, tuple[int, ...]], tuple[datetime, DayContext]] = {}
        self._nearby: dict[str, tuple[datetime, NearbyMerges]] = {}
        self._claims = ClaimMemory()
        self.index_pulls = self._claims.index_pulls
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

    def record_merges(self, pulls: Sequence[PullRequest]) -> None:
        """Record merges. A failure is only logged."""
        with self._lock:
            self._nearby.clear()
        try:
            self._history().record_merges(pulls)
        except StoreUnavailable as error:
            log.warning("history is not recorded: %s", error)

    def load_day_context(self, repository: Repository, day: LocalDay, merged: Sequence[PullRequest]) -> DayContext:
        """Return the merges of a day among those recorded before it and those merged since.

        A digest is posted hours after its day, and by then two of five reverts of the day are merged. The result
        is cached for ten minutes, so that a hundred channels with the same digest do not read half a year a
        hundred times.
        """
        numbers, now = tuple(pull.number for pull in merged), self._now()
        key = (f"{repository} {day.date} {day.zone}".lower(), numbers)
        with self._lock:
            cached = self._arounds.get(key)
            if cached is None or now - cached[0] > _CACHE_LIFETIME or not cached[1].coverage.is_complete:
                cached = (now, self._build_day_context(repository, day, merged))
                _cache_value(self._arounds, key, cached)
            return cached[1]

    def load_nearby(self, pull: PullRequest) -> NearbyMerges:
        """Return the recorded merges around one, and perhaps others of its date (UTC); none if the store is away.

        They are cached for ten minutes, or until this process records others: each merge of a digest asks.
        """
        now, date = self._now(), pull.merge_time.astimezone(UTC).date()
        key = f"{pull.repository} {date}".lower()
        with self._lock:
            cached = self._nearby.get(key)
            if cached is None or now - cached[0] > _CACHE_LIFETIME or pull.number not in cached[1].numbers:
                first = datetime.combine(date, time(), UTC)
                merges = self.read_merges_or_none(pull.repository, first - NEAR_BEFORE, first + _DAY + NEAR_AFTER)
                pulls = remove_duplicates([pull, *merges])
                outcomes = find_outcomes(self.index_pulls(pulls)) if merges else ()
                cached = (now, NearbyMerges(merges, outcomes, frozenset(each.number for each in pulls)))
                _cache_value(self._nearby, key, cached)
            return cached[1]

    def _build_day_context(
        self, repository: Repository, day: LocalDay, merged: Sequence[PullRequest]
    ) -> DayContext:
        """Read the merges before the day and since. A failure of GitHub is in the coverage."""
        recorded = self.read_merges_or_none(repository, day.start - LOOK_BACK, day.end + LOOK_AHEAD)
        now, listed, coverage = self._now(), list[PullRequest](), COMPLETE
        days = [LocalDay(day.date + n * _DAY, day.zone) for n in range(1, _RECENT_DAYS + 1)]
        # of an older day, what was merged since is recorded already
        for after in days if now < days[-1].end else ():
            try:
                listed += self._merged_on(repository, after).pulls if after.start <= now else ()
            except DayUnavailable:
                continue
            except (GitHubAccessDenied, GitHubUnavailable, RateLimited) as error:
                coverage = Coverage.of(CoveredPart("what was reverted since", 1, 0, str(error).rstrip(".")))
                listed.clear()
                break
        around = (pull for pull in recorded if pull.merge_time not in day)
        # the days of an overview have most of their surroundings in common
        index = self.index_pulls(remove_duplicates([*merged, *listed, *around]))
        context = DayContext.from_index(index, (pull.number for pull in merged), coverage)
        return replace(context, is_sample=self._is_sample)

    def assess_risk(self, pull: PullRequest) -> Risk:
        """Rate one pull request by the rules, with what was recorded before it, as a digest of its day does.

        It is rated without history, and ``Risk.without_history`` says so, if it is not merged, if less than 90
        days are recorded before it, or if the store is unavailable. Its own texts are searched for a revert, not
        their recorded copy, which may be older or cut.
        """
        past = self._load_past(pull.repository, pull.merge_time) if pull.merged_at else None
        is_revert = self._claims.get_claim(pull).is_revert
        risk = assess_pull_request(pull, self._classes_of(pull.repository), past, reverts_another=is_revert)
        return replace(risk, without_history=risk.without_history and not self._is_sample)

    def find_outcomes(self, pull: PullRequest) -> tuple[MergeOutcome, ...]:
        """Return what became of a merge by those recorded in the two months after it; nothing without a store."""
        later = self.read_merges_or_none(pull.repository, pull.merge_time, pull.merge_time + 2 * _MONTH)
        outcomes = find_outcomes(self.index_pulls(remove_duplicates([pull, *later])))
        return tuple(outcome for outcome in outcomes if outcome.pull.number == pull.number)

    def _load_past(self, repository: Repository, at: datetime) -> FileHistory:
        """Return what the rules look back at from a month (UTC).

        It is cached for ten minutes, so that not every answer waits for half a year of merges. Months are cached
        separately, since the days of one question may be of two.
        """
        now, month = self._now(), at.astimezone(UTC).date().replace(day=1)
        name, classes = f"{repository} {month}".lower(), self._classes_of(repository)
        with self._lock:
            cached = self._pasts.get(name)
            if cached is None or now - cached[0] > _CACHE_LIFETIME:
                first = datetime.combine(month, time(), UTC)
                try:
                    merges = self.read_merges(repository, first - LOOK_BACK, first + _MONTH)
                except StoreUnavailable as error:
                    log.info("rated without history: %s", error)
                    return build_past(RevertIndex(()), classes)
                cached = (now, build_past(self.index_pulls(remove_duplicates(merges)), classes))
                _cache_value(self._pasts, name, cached)
            return cached[1]


def _cache_value(cached: dict[K, V], key: K, value: V) -> None:
    """Cache a value, and drop the oldest one if there are more than four."""
    cached.pop(key, None)
    cached[key] = value
    if len(cached) > _MAX_CACHED:
        del cached[next(iter(cached))]


def build_past(index: RevertIndex, classes: PathClasses) -> FileHistory:
    merges = index.by_number.values()
    return FileHistory(merges, find_outcomes(index), classes, find_relands(index))
