"""When the digest of a day is due. The answer depends on the time alone, so a missed tick changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time
from zoneinfo import ZoneInfo

from bot.domain.days import LocalDay, yesterday
from bot.domain.pulls import Repository


@dataclass(frozen=True, slots=True)
class Schedule:
    """One daily post: which repository, where, and at what local time."""

    repository: Repository
    channel: str
    zone: ZoneInfo
    post_at: time

    def due(self, now: datetime) -> LocalDay | None:
        """The day whose digest is due at ``now`` (an aware instant): yesterday, from ``post_at`` until midnight.

        A machine that wakes up in the afternoon posts that day's digest then; whether it was posted already is
        for the records to say.
        """
        local = now.astimezone(self.zone)
        return yesterday(now, self.zone) if local.time() >= self.post_at else None
