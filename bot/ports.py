"""The seams: what the services need of the outside world. Adapters and test doubles have these shapes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from bot.domain.costs import Usage
from bot.domain.days import LocalDay
from bot.domain.digest import CountCheck
from bot.domain.pulls import PullRequest, Repository
from bot.domain.visits import Visit


@dataclass(frozen=True, slots=True)
class Merged:
    """The pull requests merged in a day, newest first, without files, and an independent count of them."""

    pulls: tuple[PullRequest, ...]
    count: CountCheck

    @property
    def doubt(self) -> str:
        return self.count.doubt(len(self.pulls))


class PullRequests(Protocol):
    """Where pull requests come from.

    Every method may raise RepositoryNotFound, GitHubRefused, RateLimited or GitHubUnavailable.
    """

    def merged_on(self, repository: Repository, day: LocalDay) -> Merged:
        """All pull requests merged in the local day, without files."""

    def pull(self, repository: Repository, number: int) -> PullRequest:
        """One pull request, without files. Raises PullRequestNotFound."""

    def with_files(self, pull: PullRequest) -> PullRequest:
        """The same pull request with its files and patches, in GitHub's order."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a model that answers in JSON of a schema. ``version`` names the instructions."""

    model: str
    version: str
    system: str
    user: str
    schema: Mapping[str, Any]
    max_tokens: int

    @property
    def key(self) -> str:
        """Address of the answer by content: equal for equal model, version, schema and rendered input."""
        parts = [self.model, self.version, self.system, self.user, self.schema]
        return "llm:" + hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model wrote, complete and not refused, and the tokens it took."""

    text: str
    usage: Usage


class Model(Protocol):
    """A language model."""

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. Raises ModelBusy, ModelRejected, ModelRefused or ModelTruncated."""


class Cache(Protocol):
    """What may be lost and computed again. Every method may raise StoreUnavailable."""

    def get(self, key: str) -> str | None:
        """The value, or None."""

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        """Keep a value for a time."""

    def lease(self, name: str) -> AbstractContextManager[None]:
        """Waits until nobody else, in any process, holds the lease of that name, and holds it."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text file for a thread."""

    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Post:
    """A message as Slack takes it; ``text`` is what notifications and screen readers get."""

    text: str
    blocks: tuple[Mapping[str, Any], ...]

    def payload(self) -> dict[str, Any]:
        return {"text": self.text, "blocks": [dict(block) for block in self.blocks]}


class Messenger(Protocol):
    """Slack, as far as a digest needs it. Every method may raise SlackRefused or SlackUnavailable."""

    def team(self) -> str:
        """The id of the workspace that the token belongs to."""

    def post(self, channel: str, post: Mapping[str, Any], key: str, thread: str | None = None) -> str:
        """Post a message that carries ``key`` in its metadata; its timestamp."""

    def find_posts(self, channel: str, since: datetime, thread: str | None = None) -> dict[str, str]:
        """Timestamps of the bot's own messages by key: of the channel since a time, or of a thread."""

    def attach(self, channel: str, thread: str, file: Attachment) -> None:
        """Put a file into a thread."""

    def has_attachment(self, channel: str, thread: str, name: str) -> bool:
        """Whether the bot already put a file of that name into the thread."""

    def permalink(self, channel: str, message: str) -> str:
        """Address of a message."""


class Whispers(Protocol):
    """What only the one who asked sees."""

    def whisper(self, visit: Visit, post: Post) -> None:
        """Tell the asker. Raises SlackUnavailable; one who can't be reached any more is no error."""


class Views(Protocol):
    """Windows in Slack. Both may raise SlackRefused or SlackUnavailable."""

    def open(self, trigger: str, key: str, view: Mapping[str, Any]) -> None:
        """Open a window within three seconds of the click that gave ``trigger``."""

    def update(self, key: str, view: Mapping[str, Any]) -> bool:
        """Show something else in the window of that key; whether there is one."""


class Limiter(Protocol):
    """How often somebody may ask. May raise StoreUnavailable."""

    def admits(self, name: str) -> bool:
        """Count a request of that name; whether it is still within the limit."""


class Queue(Protocol):
    """Work of one kind for another process."""

    def send(self, *arguments: Any) -> None:
        """Hand work over; it is durable when this returns. Raises StoreUnavailable."""


class PostRecords(Protocol):
    """What is known of a digest that is being posted; durable. May raise StoreUnavailable, InProgress."""

    def load(self, key: str) -> dict[str, str]:
        """The fields recorded so far."""

    def save(self, key: str, **fields: str) -> None:
        """Add fields."""

    def claim(self, key: str, field: str, value: str) -> None:
        """Add a field that nobody has added yet, or raise InProgress.

        A right that :meth:`exclusive` gave may be lost while the store is away; this shows it before it does harm.
        """

    def exclusive(self, key: str) -> AbstractContextManager[None]:
        """Hold the right to post this digest, or raise InProgress if another process keeps it."""
