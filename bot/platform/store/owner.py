"""The workspace that owns a store, on Redis: a string without expiry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from redis import Redis

from bot.errors import ConfigurationError
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keys import STORE_OWNER
from bot.platform.store.keyspace import UNPREFIXED, Keyspace


class WorkspaceOwner:
    """The workspace that owns a store. Both methods may raise StoreUnavailable."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(STORE_OWNER.build_key())

    def read_workspace(self) -> str | None:
        with translate_redis_errors():
            owner = cast("bytes | None", self._client.get(self._key))
        return None if owner is None else owner.decode(errors="replace")

    def claim_workspace(self, workspace: str) -> str:
        with translate_redis_errors():
            self._client.set(self._key, workspace, nx=True)
        return self.read_workspace() or workspace


def describe_conflict(owner: str, workspace: str, prefix: str) -> str:
    """Return one sentence for the operator who uses another workspace's store."""
    store = f"The store with the prefix {prefix}" if prefix else "The store"
    own = "another PRDIGEST_STORE_PREFIX" if prefix else "its own PRDIGEST_STORE_PREFIX"
    return (
        f"{store} belongs to the workspace {owner}, but SLACK_BOT_TOKEN is for {workspace}: give this bot {own}."
    )


@dataclass(frozen=True)
class StoreOwnership:
    """Claim of a store for the workspace of the bot's token, whose id ``workspace`` asks Slack for."""

    workspace_owner: WorkspaceOwner
    workspace: Callable[[], str]
    prefix: str

    def claim_store(self) -> None:
        """Claim the store if it has no owner. Before this returns, nothing in the store may be read or written.

        Raises ConfigurationError if it belongs to another workspace, SlackCallRefused and SlackUnavailable if
        Slack does not name the token's, and StoreUnavailable.
        """
        workspace = self.workspace()
        owner = self.workspace_owner.claim_workspace(workspace)
        if owner != workspace:
            raise ConfigurationError(describe_conflict(owner, workspace, self.prefix))
