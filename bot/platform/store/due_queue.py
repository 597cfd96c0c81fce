"""What is to be done at its time: a sorted set by seconds since 1970, in which one call finds what is due.

An item has exactly one text: one with two texts would be due twice. The first version has no mark, each later one
begins with its number and a semicolon: this one leaves its items alone.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar, cast

from redis import Redis

from bot.errors import UsageError
from bot.platform.store.connection import UNPREFIXED, Keyspace, translate_redis_errors
from bot.platform.store.keys import DUE_QUEUE
from impact.repository import Repository
from impact.text.strings import quote_input

log = logging.getLogger(__name__)

N = TypeVar("N")

# a revert is reported within hours; each check is one call to GitHub, or two
CHECK_INTERVAL = timedelta(hours=6)
_VERSION_MARK = ";"
# scores and arguments are whole seconds, so that they compare as equal texts
_MOVE_SCRIPT = """
local moved = 0
for i = 1, #ARGV, 3 do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[i + 1] then
    redis.call('ZADD', KEYS[1], ARGV[i + 2], ARGV[i])
    moved = moved + 1
  end
end
return moved
"""


@dataclass(frozen=True, slots=True)
class DueItem(Generic[N]):
    """Something to be done about what has a ``name``; ``str`` of it is its text in the store."""

    name: N
    kind: ClassVar[str] = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.kind else str(self.name)


class NextDigest(DueItem[str]):
    """The next digest to post for the subscription with that id."""


class DigestRepair(DueItem[str]):
    kind = "mend"


class IncidentReport(DueItem[str]):
    kind = "tell"


class ReportUpdate(DueItem[str]):
    """The edit that writes the end of the incident with that id into its report."""

    kind = "settle"


class OutcomeCheck(DueItem[Repository]):
    kind = "watch"


class ProfileRefresh(DueItem[str]):
    kind = "scan"


class ReleasePost(DueItem[str]):
    """The post about a tag in the channel of a subscription: its id, a blank and the tag."""

    kind = "release"


class OpenPullsPost(DueItem[str]):
    """The open pull requests to post for the subscription with that id."""

    kind = "open"


_KINDS: dict[str, type[DueItem[str]]] = {
    each.kind: each
    for each in (DigestRepair, IncidentReport, ReportUpdate, ProfileRefresh, ReleasePost, OpenPullsPost)
}


class DueQueue:
    """Planned items by the time at which they are due. Durable. Every method may raise StoreUnavailable."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(DUE_QUEUE.build_key())
        self._move_script = client.register_script(_MOVE_SCRIPT)

    def list_due(self, now: datetime) -> Sequence[tuple[DueItem[Any], datetime]]:
        """List the items that are due by ``now`` with their times (UTC), oldest first."""
        with translate_redis_errors():
            scores = cast(
                "list[tuple[bytes, float]]",
                self._client.zrangebyscore(self._key, "-inf", int(now.timestamp()), withscores=True),
            )
        return [
            (item, datetime.fromtimestamp(score, UTC)) for member, score in scores if (item := _parse_item(member))
        ]

    def get_time(self, item: DueItem[Any]) -> datetime | None:
        return self.get_times([item])[0]

    def get_times(self, items: Sequence[DueItem[Any]]) -> Sequence[datetime | None]:
        """Return when each item is due (UTC), in their order, in one call; None for what is not planned."""
        if not items:
            return ()
        with translate_redis_errors():
            scores = self._client.zmscore(self._key, list(map(str, items)))
        return [None if score is None else datetime.fromtimestamp(score, UTC) for score in scores]

    def put(self, item: DueItem[Any], instant: datetime) -> None:
        with translate_redis_errors():
            self._client.zadd(self._key, {str(item): int(instant.timestamp())})

    def add(self, item: DueItem[Any], instant: datetime) -> None:
        """Plan an item for an instant unless it is planned already."""
        with translate_redis_errors():
            self._client.zadd(self._key, {str(item): int(instant.timestamp())}, nx=True)

    def move(self, item: DueItem[Any], before: datetime, after: datetime) -> bool:
        return bool(self.move_all([(item, before, after)]))

    def move_all(self, moves: Sequence[tuple[DueItem[Any], datetime, datetime]]) -> int:
        """Move many items in one call; return how many were still planned as before."""
        if not moves:
            return 0
        texts = [
            text
            for item, before, after in moves
            for text in (str(item), str(int(before.timestamp())), str(int(after.timestamp())))
        ]
        with translate_redis_errors():
            return cast("int", self._move_script(keys=[self._key], args=texts))

    def drop(self, item: DueItem[Any]) -> None:
        with translate_redis_errors():
            self._client.zrem(self._key, str(item))


@lru_cache(maxsize=1_024)
def _parse_item(member: bytes) -> DueItem[Any] | None:
    """Return the item of a member; None for an unknown one, which stays due, and is logged once."""
    text = member.decode(errors="replace")
    kind, colon, name = text.partition(":")
    if not colon and _VERSION_MARK not in text:
        return NextDigest(text)
    if kind in _KINDS:
        return _KINDS[kind](name)
    try:
        if kind == OutcomeCheck.kind:
            return OutcomeCheck(Repository.parse(name))
    except UsageError:
        pass
    log.error("an item of the agenda is left alone, this version does not know it: %s", quote_input(text))
    return None
