"""The feeds that are made on request, from the store, and kept for some minutes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.archive.models import ArchivedDay, ArchiveHeading, RemovalDeadline
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span
from bot.domain.time.day import TodayProvider
from bot.render.archive.atom import FEED_DAYS, render_atom
from bot.render.archive.calendar import render_calendar
from bot.services.archive.contract_selection import render_contract_changes
from bot.services.archive.day_reader import ArchiveReader

# days of contract changes: about a thousand merges of vLLM
FEED_CONTRACT_DAYS = 30
_LIFETIME = timedelta(minutes=5)
_DAY = timedelta(days=1)


class FeedsBusy(Exception):
    """Error for a request that comes while another one reads the days for the first time."""


@dataclass(frozen=True, slots=True)
class _Content:
    """What all feeds are made of, and when it was read."""

    days: tuple[ArchivedDay, ...]
    deadlines: tuple[RemovalDeadline, ...]
    read_at: datetime


class FeedService:
    """Maker of the feeds of a repository. Threads may share it.

    The days are read by one request at a time, so that readers don't keep Slack waiting: the others get what was
    read before.
    """

    def __init__(
        self,
        repository: Repository,
        heading: ArchiveHeading,
        reader: ArchiveReader,
        list_deadlines: Callable[[Repository], tuple[RemovalDeadline, ...]],
        today: TodayProvider,
        now: Callable[[], datetime],
    ) -> None:
        self._repository = repository
        self._heading = heading
        self._reader = reader
        self._list_deadlines = list_deadlines
        self._today = today
        self._now = now
        self._reading = threading.Lock()
        self._content: _Content | None = None

    def make_atom(self) -> bytes:
        """Make the Atom feed. Raises StoreUnavailable and FeedsBusy, as the others do."""
        return render_atom(self._get_content().days[-FEED_DAYS:], self._heading)

    def make_contract_changes(self, since: str) -> bytes:
        """Make the feed of contract changes since a commit or a day. Raises UsageError for another text."""
        return render_contract_changes(self._get_content().days, self._heading, since)

    def make_calendar(self) -> bytes:
        """Make the calendar of removals."""
        return render_calendar(self._get_content().deadlines, self._heading)

    def _get_content(self) -> _Content:
        content = self._content
        if content and self._now() - content.read_at < _LIFETIME:
            return content
        if not self._reading.acquire(blocking=False):
            if content is None:
                raise FeedsBusy
            return content
        try:
            self._content = self._read_content()
            return self._content
        finally:
            self._reading.release()

    def _read_content(self) -> _Content:
        today = self._today()
        span = Span(today.date - FEED_CONTRACT_DAYS * _DAY, today.date - _DAY, today.zone)
        return _Content(
            self._reader.read_days(self._repository, span), self._list_deadlines(self._repository), self._now()
        )
