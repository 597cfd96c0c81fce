"""Comparison of posted digests with what became of their pull requests."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from bot.domain.errors import StoreUnavailable
from bot.domain.history.pull_outcomes import RevertIndex
from bot.domain.keyspace.keys import REDUCED_LIST
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.date_range import Span
from bot.domain.time.day import get_today
from bot.domain.track_record.posted_ratings import RatedDigest
from bot.domain.track_record.score import TrackRecordScore, compute_score
from bot.ports import Cache, HistoryStore
from impact.history.outcomes import find_outcomes

if TYPE_CHECKING:
    # a feature, which stands above
    from bot.features.digest.tables import DigestRecords

log = logging.getLogger(__name__)

# a month of a busy repository is 2 MB
_MONTH = timedelta(days=31)
# the period that decides how much a digest lists: long enough for a verdict, short enough to follow a change
_LOOK_BACK = timedelta(days=180)
_YES, _NO = "yes", "no"


@dataclass(frozen=True, slots=True)
class TrackRecordStores:
    """What lists the keys of posted digests, and the stores of their ratings and of merges."""

    list_keys: Callable[[Repository, datetime, datetime], Sequence[str]]
    records: DigestRecords
    history: HistoryStore


class TrackRecordScorer:
    """Scorer of posted lists. ``now`` returns the current aware time."""

    def __init__(self, kept: Callable[[], TrackRecordStores], cache: Cache, now: Callable[[], datetime]) -> None:
        self._kept = kept
        self._cache = cache
        self._now = now

    def score_lists(self, repository: Repository, span: Span) -> TrackRecordScore:
        """Score the lists of the digests whose last day ended in the span. Raise StoreUnavailable."""
        now, kept = self._now(), self._kept()
        issues = list(_keep_first_ratings(_load_digests(kept, repository, span)))
        merges = _iterate_merges(kept.history, repository, _find_first_merge(issues, now), now)
        outcomes = find_outcomes(RevertIndex(merges))
        return compute_score(issues, outcomes, now)

    def is_reduced(self, repository: Repository) -> bool:
        """Return whether digests of a repository should list less, judged by the lists of the last 180 days.

        The answer is computed once a day. If the store is away, it is False.
        """
        key = REDUCED_LIST.build_key(str(repository).lower())
        try:
            cached = self._cache.get(key)
            if cached is None:
                cached = _YES if self._should_reduce(repository) else _NO
                self._cache.put(key, cached, REDUCED_LIST.lifetime)
        except StoreUnavailable as error:
            log.warning("how good the lists of %s were is not known: %s", repository, error)
            return False
        return cached == _YES

    def _should_reduce(self, repository: Repository) -> bool:
        """Return whether the lists of the last 180 days call for shorter ones."""
        last = get_today(self._now(), ZoneInfo("UTC"))
        return self.score_lists(repository, Span(last.date - _LOOK_BACK, last.date, last.zone)).is_reduced


def _load_digests(kept: TrackRecordStores, repository: Repository, span: Span) -> Iterator[RatedDigest]:
    """Yield the posted digests that showed something."""
    days = span.days
    keys = kept.list_keys(repository, days[0].end, days[-1].end)
    for key, record in kept.records.iterate_records(keys):
        if record.posted_at and (ratings := record.ratings):
            yield RatedDigest(key, record.posted_at.astimezone(UTC), ratings)


def _keep_first_ratings(issues: Iterable[RatedDigest]) -> Iterator[RatedDigest]:
    """Yield the digests without ratings that an earlier one showed: many channels may show the same ones."""
    first: dict[int, tuple[datetime, str]] = {}
    for issue in issues:
        own = (issue.at, issue.key)
        rated = tuple(each for each in issue.ratings.rated if own <= first.get(each.number, own))
        first.update((each.number, own) for each in rated)
        yield replace(issue, ratings=replace(issue.ratings, rated=rated))


def _iterate_merges(
    history: HistoryStore, repository: Repository, since: datetime, now: datetime
) -> Iterator[PullRequest]:
    """Yield the merges between two instants, read in parts so that the store can serve others in between."""
    while since < now:
        until = min(now, since + _MONTH)
        yield from history.read_merges(repository, since, until)
        since = until


def _find_first_merge(issues: Sequence[RatedDigest], now: datetime) -> datetime:
    """Return the time of the earliest rated merge, or ``now`` if there is none."""
    return min((each.merged_at for issue in issues for each in issue.ratings.rated), default=now)
