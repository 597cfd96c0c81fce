"""Ownership of a store by one workspace, so that two bots never handle each other's jobs."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.errors import ConfigurationError
from bot.ports import WorkspaceOwner


def describe_conflict(owner: str, workspace: str, prefix: str) -> str:
    """Return one sentence for the operator who uses another workspace's store."""
    store = f"The store with the prefix {prefix}" if prefix else "The store"
    own = "another PRDIGEST_STORE_PREFIX" if prefix else "its own PRDIGEST_STORE_PREFIX"
    return (
        f"{store} belongs to the workspace {owner}, but SLACK_BOT_TOKEN is for {workspace}: give this bot {own}."
    )


class StoreOwnership:
    """Claim of a store for the workspace of the bot's token."""

    def __init__(self, workspace_owner: WorkspaceOwner, workspace: Callable[[], str], prefix: str) -> None:
        """Create a claim. ``workspace`` asks Slack for the id."""
        self._workspace_owner = workspace_owner
        self._workspace = workspace
        self._prefix = prefix

    def claim_store(self) -> None:
        """Claim the store if it has no owner.

        Before this returns, nothing may be read from the store or written to it.

        Raises:
            ConfigurationError: the store belongs to another workspace.
            SlackCallRefused, SlackUnavailable: Slack does not name the token's workspace.
            StoreUnavailable: the store does not answer.
        """
        workspace = self._workspace()
        owner = self._workspace_owner.claim_workspace(workspace)
        if owner != workspace:
            raise ConfigurationError(describe_conflict(owner, workspace, self._prefix))
