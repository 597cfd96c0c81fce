"""Watcher of the outcomes of pull requests after their digest was posted. They are added to the digest."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.domain.history.pull_outcomes import MergeOutcome, RevertIndex
from bot.domain.keyspace.keys import LAST_OUTCOME_CHECK
from bot.domain.pull_requests.models import Repository, remove_duplicates
from bot.domain.subscriptions.due_items import OutcomeCheck
from bot.domain.time.day import LocalDay, parse_date
from bot.platform.jobs import JobQueue
from bot.ports import Cache, DueQueue, PostedDigestIndex
from bot.services.digest.posted_digest import build_state_key
from bot.services.digest.poster import DigestPoster
from bot.services.digest.records import DigestRecords
from bot.services.history.merge_timeline import LOOK_AHEAD, MergeTimeline
from bot.services.history.outcome_checks import build_check_key
from bot.services.jobs.job_types import AMEND_DIGEST
from bot.services.jobs.payloads import AmendmentPayload
from impact.history.outcomes import find_outcomes

# outcomes count for that long after a merge: 95 of 100 reverts come within it
WATCH_PERIOD = timedelta(days=30)
_DAY = timedelta(days=1)
# the amendments of a check follow at once; one that waited longer reads the history again
_CACHE_LIFETIME = timedelta(hours=1)
_UTC = ZoneInfo("UTC")


class OutcomeWatcher:
    """Watcher of the repositories of posted digests."""

    def __init__(
        self,
        timeline: MergeTimeline,
        cache: Cache,
        index: PostedDigestIndex,
        records: DigestRecords,
        poster: DigestPoster,
        due_queue: DueQueue,
        now: Callable[[], datetime],
    ) -> None:
        self._timeline = timeline
        self._cache = cache
        self._index = index
        self._records = records
        self._poster = poster
        self._due_queue = due_queue
        self._now = now
        self._snapshots: dict[Repository, _OutcomeSnapshot] = {}
        self._lock = threading.Lock()

    def check_repository(self, repository: Repository, jobs: JobQueue) -> None:
        """Record the merges since the last check, and find the digests whose outcomes have changed.

        An amendment of each of these digests is put on ``jobs``.

        Raises:
            PrdigestError: the merges of a day or the records are unavailable; the next check covers them.
        """
        now = self._now()
        self._drop_old_messages(repository, now - WATCH_PERIOD)
        keys = self._index.list_between(repository, now - WATCH_PERIOD, now)
        if not keys:
            self._due_queue.drop(OutcomeCheck(repository))
            return
        self._record_recent_merges(repository, now)
        outcomes = self._load_outcomes(repository, now)
        for key, record in self._records.iterate_records(keys):
            if build_state_key(record.select_new_outcomes(outcomes)) != record.amended_states:
                jobs.send(AMEND_DIGEST, AmendmentPayload(key, now))

    def _record_recent_merges(self, repository: Repository, now: datetime) -> None:
        """Record the merges since the last check and of the day before it, of two weeks at most."""
        name, today = build_check_key(repository), now.astimezone(UTC).date()
        last = self._cache.get(name)
        first = max(parse_date(last) if last else today, today - LOOK_AHEAD) - _DAY
        for days in range((today - first).days + 1):
            self._timeline.record_day(repository, LocalDay(first + days * _DAY, _UTC))
        self._cache.put(name, str(today), LAST_OUTCOME_CHECK.lifetime)

    def _drop_old_messages(self, repository: Repository, before: datetime) -> None:
        """Drop the messages of digests that are too old to be amended: they are most of a record."""
        for key, record in self._records.iterate_records(
            self._index.list_between(repository, before - LOOK_AHEAD, before)
        ):
            self._records.store.save(key, record, record.forget_messages())

    def amend_digest(self, key: str, looked_at: datetime) -> None:
        """Add the outcomes of its pull requests to a digest, and reply once to each.

        A second call changes nothing more. ``looked_at`` is the instant (aware) of the check that requested it:
        only the first digest of that check reads the history.

        Raises:
            PostingInProgress: another process works on it.
            SlackUnavailable, StoreUnavailable: an unknown part is done; another call continues.
        """
        digest = self._records.load_digest(key)
        if digest and digest.record.posted_json:
            self._poster.add_outcomes(digest, self._load_outcomes(digest.spec.repository, looked_at))

    def _load_outcomes(self, repository: Repository, looked_at: datetime) -> tuple[MergeOutcome, ...]:
        """Return the outcomes of merges, as they were read at that instant or later, or else read them now.

        Raises StoreUnavailable: if that were taken for no outcomes, those in the digests would be removed.
        """
        now = self._now()
        with self._lock:
            recent = {
                name: each for name, each in self._snapshots.items() if now - each.read_at <= _CACHE_LIFETIME
            }
            snapshot = recent.get(repository)
            if snapshot is None or snapshot.read_at < looked_at:
                pulls = self._timeline.read_merges(repository, now - 2 * WATCH_PERIOD, now + _DAY)
                outcomes = find_outcomes(RevertIndex(remove_duplicates(pulls)))
                snapshot = _OutcomeSnapshot(now, tuple(map(_remove_texts, outcomes)))
            self._snapshots = {**recent, repository: snapshot}
            return snapshot.outcomes


@dataclass(frozen=True, slots=True)
class _OutcomeSnapshot:
    """The outcomes of merges as they were read at an instant (aware)."""

    read_at: datetime
    outcomes: tuple[MergeOutcome, ...]


def _remove_texts(outcome: MergeOutcome) -> MergeOutcome:
    """Return a copy without descriptions and files, which are evaluated already."""
    pull, by = (replace(half, body="", commit_message="", files=None) for half in (outcome.pull, outcome.by))
    return replace(outcome, pull=pull, by=by)
