"""Looks for what became of pull requests after their digest was posted, and says so where it was posted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.domain.history.outcomes import MergeOutcome, find_outcomes
from bot.domain.keyspace.keys import LAST_OUTCOME_CHECK
from bot.domain.pull_requests.models import Repository, remove_duplicates
from bot.domain.subscriptions.due_items import OutcomeCheck
from bot.domain.time.day import LocalDay, parse_date
from bot.ports import Cache, DueQueue, PostedDigestIndex, WorkQueue
from bot.services.digest.posted_digest import build_state_key
from bot.services.digest.poster import DigestPoster
from bot.services.digest.records import DigestRecords
from bot.services.history.merge_timeline import LOOK_AHEAD, MergeTimeline
from bot.services.history.outcome_checks import build_check_key

# outcomes count for that long after a merge: 95 of 100 reverts come within it
WATCH_PERIOD = timedelta(days=30)
_DAY = timedelta(days=1)
# the amendments of a look are made at once; one that waited longer had better read again
_CACHE_LIFETIME = timedelta(hours=1)
_UTC = ZoneInfo("UTC")


class OutcomeWatcher:
    """Watches the repositories of which digests were posted."""

    def __init__(
        self,
        chronicle: MergeTimeline,
        cache: Cache,
        index: PostedDigestIndex,
        records: DigestRecords,
        poster: DigestPoster,
        agenda: DueQueue,
        now: Callable[[], datetime],
    ) -> None:
        self._chronicle = chronicle
        self._cache = cache
        self._index = index
        self._records = records
        self._poster = poster
        self._agenda = agenda
        self._now = now
        self._looks: dict[Repository, _OutcomeSnapshot] = {}
        self._lock = threading.Lock()

    def check_repository(self, repository: Repository, amends: WorkQueue) -> None:
        """Look at what was merged since the last look.

        ``amends`` takes the key of each digest to be amended, and when this was looked at, in ISO 8601.

        Raises:
            PrdigestError: the merges of a day can't be had, or what was recorded; the next look sees them.
        """
        now = self._now()
        self._drop_old_messages(repository, now - WATCH_PERIOD)
        keys = self._index.list_between(repository, now - WATCH_PERIOD, now)
        if not keys:
            self._agenda.drop(OutcomeCheck(repository))
            return
        self._record_recent_merges(repository, now)
        outcomes = self._load_outcomes(repository)
        for key, record in self._records.iterate_records(keys):
            if build_state_key(record.select_new_outcomes(outcomes)) != record.amended_states:
                amends.send(key, now.isoformat())

    def _record_recent_merges(self, repository: Repository, now: datetime) -> None:
        """Record what was merged since the last look, and on the day before it; of two weeks at most."""
        name, today = build_check_key(repository), now.astimezone(UTC).date()
        last = self._cache.get(name)
        first = max(parse_date(last) if last else today, today - LOOK_AHEAD) - _DAY
        for days in range((today - first).days + 1):
            self._chronicle.record_day(repository, LocalDay(first + days * _DAY, _UTC))
        self._cache.put(name, str(today), LAST_OUTCOME_CHECK.lifetime)

    def _drop_old_messages(self, repository: Repository, before: datetime) -> None:
        """What was posted is kept as long as it may be amended: it is by far the largest part of a record."""
        for key, record in self._records.iterate_records(
            self._index.list_between(repository, before - LOOK_AHEAD, before)
        ):
            self._records.store.save(key, record, record.forget_messages())

    def amend_digest(self, key: str, looked_at: datetime | None = None) -> None:
        """Write what became of its pull requests behind their lines in a digest, and reply once to each.

        Doing so twice changes nothing more. ``looked_at`` is the instant (aware) of the look that asks for it: of
        all digests of that look the first reads the history. Without it, this one does.

        Raises:
            InProgress: another process is at it.
            SlackUnavailable, StoreUnavailable: it is not known how much was done; again goes on.
        """
        digest = self._records.load_digest(key)
        if digest and digest.record.posted_json:
            self._poster.add_outcomes(digest, self._load_outcomes(digest.spec.repository, looked_at))

    def _load_outcomes(
        self, repository: Repository, looked_at: datetime | None = None
    ) -> tuple[MergeOutcome, ...]:
        """Return what became of merges, as it was read for the look of that instant, or later, or else now.

        Raises StoreUnavailable: who took that for no outcomes would take back what was told of them.
        """
        now = self._now()
        with self._lock:
            recent = {name: look for name, look in self._looks.items() if now - look.read_at <= _CACHE_LIFETIME}
            look = recent.get(repository)
            if look is None or looked_at is None or look.read_at < looked_at:
                pulls = self._chronicle.read_merges(repository, now - 2 * WATCH_PERIOD, now + _DAY)
                look = _OutcomeSnapshot(now, tuple(map(_remove_texts, find_outcomes(remove_duplicates(pulls)))))
            self._looks = {**recent, repository: look}
            return look.outcomes


@dataclass(frozen=True, slots=True)
class _OutcomeSnapshot:
    """What a look at an instant found."""

    read_at: datetime
    outcomes: tuple[MergeOutcome, ...]


def _remove_texts(outcome: MergeOutcome) -> MergeOutcome:
    """Return it without descriptions and files, which have been read."""
    pull, by = (replace(half, body="", commit_message="", files=None) for half in (outcome.pull, outcome.by))
    return replace(outcome, pull=pull, by=by)
