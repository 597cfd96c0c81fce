"""Interfaces for the doctor's checks of other services. A probe tries once and waits a few seconds at most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from bot.domain.pull_requests.models import Repository
from bot.ports.store.cache import Cache
from bot.ports.store.queues import DueQueue, LostJobStore, RunLog
from bot.ports.store.subscriptions import SubscriptionStore

if TYPE_CHECKING:
    from bot.platform.store.tables import Store


@dataclass(frozen=True, slots=True)
class RemainingCalls:
    """How many calls GitHub still accepts before ``resets`` (UTC)."""

    left: int
    resets: datetime


@dataclass(frozen=True, slots=True)
class GitHubAccess:
    """Access that GitHub grants a token. ``time`` is what GitHub's clock shows.

    ``allowance`` is None for a server without limits.
    """

    allowance: RemainingCalls | None
    time: datetime | None


class GitHubProbe(Protocol):
    """Checks of GitHub.

    Both methods may raise GitHubAccessDenied, RateLimited, GitHubUnavailable, or ConfigurationError (a setting is
    wrong).
    """

    def check_access(self) -> GitHubAccess:
        """Check the token and return the access it gives."""

    def can_read_commits(self, repository: Repository) -> bool:
        """Read a pull request, and return whether the commits of the default branch can be read too.

        Raises:
            RepositoryNotFound: there is no such repository, or the token may not see it.
        """


@dataclass(frozen=True, slots=True)
class MirrorStatus:
    """State of a mirror. ``problem`` says why it can't be used, and ``failure`` why the last update failed.

    Both are empty if there is nothing to say. ``size`` is in bytes, ``updated_at`` in UTC.
    """

    exists: bool
    problem: str
    size: int
    updated_at: datetime | None
    failure: str


class MirrorProbe(Protocol):
    """Checks of the mirrors that the bot keeps on this machine."""

    def read_version(self) -> tuple[int, int] | None:
        """Return the version of git; None if there is no such program."""

    def read_status(self, repository: Repository) -> MirrorStatus:
        """Return the state of the mirror of a repository."""


class ModelProbe(Protocol):
    """Checks of the model's service."""

    def has_model(self, model: str) -> bool | None:
        """Return whether the service has a model of that name, None if it lists no models, as some gateways.

        Raises:
            ModelRequestRejected: the key is wrong.
            ModelBusy: there is no usable answer.
        """


@dataclass(frozen=True, slots=True)
class Capability:
    """What a model's server can do or says. ``problem`` and ``advice`` are empty if all is well."""

    name: str
    detail: str
    problem: str = ""
    advice: str = ""


@runtime_checkable
class CapabilityProbe(Protocol):
    """Checks of a server that may lack something that the bot needs. It takes some tokens."""

    def check_capabilities(self, model: str) -> Sequence[Capability]:
        """Try what the bot needs of a model. Raises ModelRequestRejected and ModelBusy."""


@dataclass(frozen=True, slots=True)
class Installation:
    """The installation of the bot that a token belongs to, and the scopes it lacks with the purpose of each.

    ``missing_scopes`` is None if Slack does not send the scopes; ``time`` is what Slack's clock shows.
    ``missing_preview_scopes`` are those that previews of links need.
    """

    workspace: str
    missing_scopes: Mapping[str, str] | None
    time: datetime | None
    missing_preview_scopes: Mapping[str, str] = field(default_factory=dict)


class SlackProbe(Protocol):
    """Checks of Slack with the bot's token. All methods may raise SlackCallRefused or SlackUnavailable."""

    def fetch_installation(self) -> Installation:
        """Check the token and return its installation."""

    def fetch_team(self) -> str:
        """Return the id of the workspace, or of the organisation that the bot is installed in."""

    def check_channel(self, name: str) -> str:
        """Return the name that people see for a channel id.

        Raises:
            SlackCallRefused: the bot could not post there.
            SlackUnavailable: there is no usable answer.
        """


class AppProbe(Protocol):
    """Check of Slack with the app's own token."""

    def connect(self) -> None:
        """Ask for a connection in Socket Mode, without using it. Raise SlackCallRefused or SlackUnavailable."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """Status that a store reports. Memory is in bytes; a ``limit`` of 0 means that there is none.

    ``persistence`` says how the data outlives a restart: empty if it does not, None if it is unknown.
    """

    policy: str
    used: int
    limit: int
    persistence: str | None
    time: datetime


class StoreProbe(Protocol):
    """Checks of the store. Every method may raise StoreUnavailable."""

    def read_status(self) -> ServerStatus:
        """Return the status that the store reports."""

    def require_durable(self) -> None:
        """Raise StoreUnavailable if the store may drop data that has to stay."""

    def describe_schema(self) -> str:
        """Return the version of the stored data in a few words. The error says why it can't be used."""

    def check_writing(self) -> None:
        """Write a value that expires soon. The error says why this fails."""

    def read_owner(self) -> str | None:
        """Return the id of the workspace that owns the store, None if no bot has used it yet."""

    def read_heartbeats(self) -> Mapping[str, datetime]:
        """Return the last sign of life of each worker and of each sender of jobs, by its own clock."""

    def count_waiting_jobs(self) -> Mapping[str, int]:
        """Return, by queue, how many jobs no worker has started yet."""

    def count_delayed_jobs(self) -> Mapping[str, int]:
        """Return, by queue, how many jobs wait for the time of their next attempt."""


@dataclass(frozen=True, slots=True)
class StoreRecords:
    """A store's probe, and its records."""

    probe: StoreProbe
    cache: Cache
    subscriptions: SubscriptionStore
    due_queue: DueQueue
    run_log: RunLog
    lost_jobs: LostJobStore
    tables: Store
