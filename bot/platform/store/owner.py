"""The workspace that owns a store, on Redis: a string without expiry."""

from __future__ import annotations

from typing import cast

from redis import Redis

from bot.domain.keyspace.keys import STORE_OWNER
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace


class RedisWorkspaceOwner:
    """``WorkspaceOwner`` on Redis."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(STORE_OWNER.build_key())

    def read_workspace(self) -> str | None:
        """Return the id of the workspace, None if there is none."""
        with translate_redis_errors():
            owner = cast("bytes | None", self._client.get(self._key))
        return None if owner is None else owner.decode(errors="replace")

    def claim_workspace(self, workspace: str) -> str:
        """Make a workspace the owner if there is none, and return the owner."""
        with translate_redis_errors():
            self._client.set(self._key, workspace, nx=True)
        return self.read_workspace() or workspace
