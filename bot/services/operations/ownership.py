"""Whose a store is: one workspace's, so that two bots never take each other's jobs."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.errors import NotSetUp
from bot.ports import Owner


def refusal(owner: str, workspace: str, prefix: str) -> str:
    """One sentence for who uses another workspace's store."""
    store = f"The store under the prefix {prefix}" if prefix else "The store"
    own = "another PRDIGEST_STORE_PREFIX" if prefix else "a PRDIGEST_STORE_PREFIX of its own"
    return f"{store} belongs to the workspace {owner}, and SLACK_BOT_TOKEN is of {workspace}: give this bot {own}."


class Ownership:
    """Claims a store for the workspace of the bot's token."""

    def __init__(self, owner: Owner, workspace: Callable[[], str], prefix: str) -> None:
        """``workspace`` asks Slack for the id."""
        self._owner = owner
        self._workspace = workspace
        self._prefix = prefix

    def claim(self) -> None:
        """Take the store if it is nobody's. Until this has returned, nothing may be taken from it or put into it.

        Raises:
            NotSetUp: it is another workspace's.
            SlackRefused, SlackUnavailable: whose the token is can't be asked.
            StoreUnavailable: the store does not answer.
        """
        workspace = self._workspace()
        owner = self._owner.claim(workspace)
        if owner != workspace:
            raise NotSetUp(refusal(owner, workspace, self._prefix))
