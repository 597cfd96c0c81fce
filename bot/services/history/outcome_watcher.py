"""Looks for what became of pull requests after their digest was posted, and says so where it was posted."""

from __future__ import annotations

import datetime as dt
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.domain.errors import SlackRefused
from bot.domain.history.outcomes import TakenBack, outcomes_among
from bot.domain.keyspace.keys import LOOKED
from bot.domain.pull_requests.models import Repository, each_once
from bot.domain.subscriptions.due_items import OutcomeCheck
from bot.domain.subscriptions.models import Edition
from bot.domain.time.day import LocalDay, date_of
from bot.ports import Agenda, Cache, Issued, PostRecords, Queue
from bot.ports.cached_json import read_back
from bot.services.digest.poster import Publisher
from bot.services.digest.records import EDITION, RATINGS, each_record
from bot.services.history.merge_timeline import ON, Chronicle

log = logging.getLogger(__name__)

# a revert is told of within hours; each look is one call to GitHub, or two
EVERY = timedelta(hours=6)
# outcomes count for that long after a merge: 95 of 100 reverts come within it
WATCHED_FOR = timedelta(days=30)
_DAY = timedelta(days=1)
# a digest knows of what was merged on the day after its own; one that is posted later may lack what came then
_LATE = 2 * _DAY
_UTC = ZoneInfo("UTC")


class Aftermath:
    """Watches the repositories of which digests were posted."""

    def __init__(
        self,
        chronicle: Chronicle,
        cache: Cache,
        issued: Issued,
        records: PostRecords,
        publisher: Publisher,
        agenda: Agenda,
        now: Callable[[], datetime],
    ) -> None:
        self._chronicle = chronicle
        self._cache = cache
        self._issued = issued
        self._records = records
        self._publisher = publisher
        self._agenda = agenda
        self._now = now

    def begin(self, edition: Edition, key: str) -> None:
        """A digest was posted: from now on it is looked for what becomes of what it shows."""
        now, last = self._now(), edition.span.days[-1]
        self._issued.add(edition.repository, last.end, key)
        self._look_from(edition.repository, last.date if now >= last.end + _LATE else now.astimezone(UTC).date())
        self._agenda.add(OutcomeCheck(edition.repository), now + EVERY)

    def _look_from(self, repository: Repository, date: dt.date) -> None:
        """The next look begins there, unless it begins earlier."""
        known = self._cache.get(_looked(repository))
        if known is None or str(date) < known:
            self._cache.put(_looked(repository), str(date), LOOKED.lifetime)

    def look(self, repository: Repository, amends: Queue) -> None:
        """Look at what was merged since the last look; ``amends`` takes the key of each digest to be amended.

        Raises:
            PrdigestError: the merges of a day can't be had, or what was recorded; the next look sees them.
        """
        now = self._now()
        self._forget(repository, now - WATCHED_FOR)
        keys = self._issued.between(repository, now - WATCHED_FOR, now)
        if not keys:
            self._agenda.drop(OutcomeCheck(repository))
            return
        self._follow(repository, now)
        outcomes = self._outcomes(repository)
        for key, record in each_record(self._records, keys):
            if _state(_news(record, outcomes)) != record.get("amended", ""):
                amends.send(key)

    def _follow(self, repository: Repository, now: datetime) -> None:
        """Record what was merged since the last look, and on the day before it; of two weeks at most."""
        name, today = _looked(repository), now.astimezone(UTC).date()
        last = self._cache.get(name)
        first = max(date_of(last) if last else today, today - ON) - _DAY
        for days in range((today - first).days + 1):
            self._chronicle.follow(repository, LocalDay(first + days * _DAY, _UTC))
        self._cache.put(name, str(today), LOOKED.lifetime)

    def _forget(self, repository: Repository, before: datetime) -> None:
        """What was posted is kept as long as it may be amended: it is by far the largest part of a record."""
        keys = self._issued.between(repository, before - ON, before)
        for key, record in each_record(self._records, keys):
            if record.get("posted"):
                self._records.save(key, posted="")

    def amend(self, key: str) -> None:
        """Write what became of its pull requests behind their lines in a digest, and reply once to each.

        Doing so twice changes nothing more.

        Raises:
            InProgress: another process is at it.
            SlackUnavailable, StoreUnavailable: it is not known how much was done; again goes on.
        """
        record = self._records.load(key)
        edition = read_back(EDITION, record.get("edition"))
        if edition is None or not record.get("posted"):
            return
        news = _news(record, self._outcomes(edition.repository))
        ratings = read_back(RATINGS, record.get("ratings"))
        listed = {rated.number for rated in ratings.rated if rated.is_listed} if ratings else set()
        try:
            self._publisher.amend(edition, news, listed)
        except SlackRefused as error:
            # nobody can mend that: messages may not be edited there any more, or are gone
            log.warning("%s can't be amended: %s", edition.title, error)
        self._records.save(key, amended=_state(news))

    def _outcomes(self, repository: Repository) -> tuple[TakenBack, ...]:
        """Raises StoreUnavailable: who took that for no outcomes would take back what was told of them."""
        now = self._now()
        return outcomes_among(each_once(self._chronicle.read(repository, now - 2 * WATCHED_FOR, now + _DAY)))


def _looked(repository: Repository) -> str:
    """Where the UTC date of the last look is kept."""
    return LOOKED.key(repository)


def _news(record: Mapping[str, str], outcomes: Iterable[TakenBack]) -> list[TakenBack]:
    """What a digest did not tell of when it was posted, or told otherwise, and came within two weeks."""
    ratings = read_back(RATINGS, record.get("ratings"))
    if ratings is None:
        return []
    shown = {rated.number for rated in ratings.rated}
    told = set(json.loads(record.get("told", "[]")))
    return [
        found
        for found in outcomes
        if (found.pull.number in shown or found.mark in told) and found.state not in told and found.lasted <= ON
    ]


def _state(news: Iterable[TakenBack]) -> str:
    """Equal for equal news; empty for none."""
    return " ".join(sorted(found.state for found in news))
