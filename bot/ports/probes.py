"""How the doctor asks the outside worlds whether they work. A probe asks once and waits a few seconds at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.pull_requests.models import Repository
from bot.ports.store import Agenda, Aside, Cache, Journal, Subscriptions


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many calls GitHub still takes before ``resets`` (UTC)."""

    left: int
    resets: datetime


@dataclass(frozen=True, slots=True)
class GitHubAccess:
    """GitHub took the token. A server without limits has no ``allowance``; ``time`` is what its clock shows."""

    allowance: Allowance | None
    time: datetime | None


class GitHubProbe(Protocol):
    """GitHub. Both may raise GitHubRefused, RateLimited, GitHubUnavailable, or NotSetUp (a setting is wrong)."""

    def access(self) -> GitHubAccess:
        """Show the token."""

    def reads(self, repository: Repository) -> bool:
        """Read a pull request, and see whether the commits of the default branch can be read too.

        Raises RepositoryNotFound.
        """


class ModelProbe(Protocol):
    """The model's service."""

    def knows(self, model: str) -> bool | None:
        """Whether it has a model of that name; None where it does not tell of models, as gateways may not.

        Raises ModelRejected (the key), ModelBusy (no usable answer).
        """


@dataclass(frozen=True, slots=True)
class Installed:
    """Slack took the bot's token: in which workspace, and what the scopes it lacks are for.

    ``missing`` is None where Slack does not tell the scopes; ``time`` is what Slack's clock shows.
    """

    workspace: str
    missing: Mapping[str, str] | None
    time: datetime | None


class SlackProbe(Protocol):
    """Slack, with the bot's token. All may raise SlackRefused or SlackUnavailable."""

    def installed(self) -> Installed:
        """Show the token."""

    def team(self) -> str:
        """The id of the workspace, or of the organisation that the bot is installed in."""

    def channel(self, name: str) -> str:
        """What people call the channel of that id. Raises SlackRefused where the bot could not post in it."""


class AppProbe(Protocol):
    """Slack, with the app's own token."""

    def connect(self) -> None:
        """Ask for a connection in Socket Mode, and leave it. Raises SlackRefused or SlackUnavailable."""


@dataclass(frozen=True, slots=True)
class Server:
    """What a store says of itself. Memory is in bytes; without a ``limit`` (0) it takes what it needs.

    ``keeps`` says how it outlives a restart, empty if it does not, None if it does not tell.
    """

    policy: str
    used: int
    limit: int
    keeps: str | None
    time: datetime


class StoreProbe(Protocol):
    """The store. Every method may raise StoreUnavailable."""

    def server(self) -> Server:
        """Read what it says of itself."""

    def require_durable(self) -> None:
        """Raise StoreUnavailable if it may drop what has to stay."""

    def schema(self) -> str:
        """Of which version is what it holds, in a few words. The error says why it can't be used."""

    def write(self) -> None:
        """Write something that soon expires. The error says why it can't be."""

    def owner(self) -> str | None:
        """The id of the workspace whose it is; None where no bot has used it yet."""

    def heartbeats(self) -> Mapping[str, datetime]:
        """When each worker, and whoever put a job on a queue, was last heard of, by its own clock."""

    def waiting(self) -> Mapping[str, int]:
        """How many jobs no worker has taken yet, by queue."""


@dataclass(frozen=True, slots=True)
class Records:
    """A store, and what is kept in it."""

    probe: StoreProbe
    cache: Cache
    subscriptions: Subscriptions
    agenda: Agenda
    journal: Journal
    aside: Aside
