"""The parts of a digest's key."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.keyspace.keys import DIGEST_RECORD


@dataclass(frozen=True, slots=True)
class DigestKeyParts:
    """The parts of a digest's key.

    ``days`` is a date or ``first..last``. ``offsets`` are the UTC offsets of the zone. ``view`` is the fingerprint
    of a partial view, empty for the full one.
    """

    team: str
    channel: str
    repository: str
    days: str
    offsets: str
    view: str = ""

    @property
    def key(self) -> str:
        """The key."""
        key = DIGEST_RECORD.build_key(self.team, self.channel, self.repository, f"{self.days}@{self.offsets}")
        return f"{key}:{self.view}" if self.view else key


def parse_digest_key(key: str) -> DigestKeyParts | None:
    """Parse the key of a digest; return None for other keys."""
    kind, *parts = key.split(":")
    if f"{kind}:" != DIGEST_RECORD.prefix or len(parts) not in (4, 5):
        return None
    team, channel, repository, days, *view = parts
    dates, at, offsets = days.partition("@")
    return DigestKeyParts(team, channel, repository, dates, offsets, "".join(view)) if at else None
