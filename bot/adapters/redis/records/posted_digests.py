"""Index of a repository's posted digests, on Redis. It does not expire."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from redis import Redis

from bot.domain.keyspace.keys import POSTED_DIGEST_INDEX
from bot.domain.pull_requests.models import Repository
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace


class RedisPostedDigestIndex:
    """``PostedDigestIndex`` on Redis: a sorted set for each repository, by the Unix time at which days ended."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def add(self, repository: Repository, end: datetime, key: str) -> None:
        """Add a digest."""
        with translate_redis_errors():
            self._client.zadd(self._keys.add_prefix(_build_index_key(repository)), {key: int(end.timestamp())})

    def list_between(self, repository: Repository, since: datetime, until: datetime) -> Sequence[str]:
        """List the keys of the digests whose last day ended from ``since`` to ``until``."""
        first, last = int(since.timestamp()), int(until.timestamp())
        with translate_redis_errors():
            members = cast(
                "list[bytes]",
                self._client.zrangebyscore(self._keys.add_prefix(_build_index_key(repository)), first, last),
            )
        return tuple(member.decode() for member in members)


def _build_index_key(repository: Repository) -> str:
    """Return the key of a repository's index. GitHub ignores the case of names."""
    return POSTED_DIGEST_INDEX.build_key(str(repository).lower())
