"""What jobs carry."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from bot.domain.conversations.commands import CommandRequest
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.operations.lost_job import LostJob
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.subscriptions.request import SubscriptionRequest, SubscriptionSelector
from bot.render.conversations.greetings import Greeting

R = TypeVar("R", bound=CommandRequest)


@dataclass(frozen=True, slots=True)
class CommandPayload(Generic[R]):
    """What somebody asks for by a command, and who is to see the answer."""

    asker: SlackRequest
    request: R
    audience: Audience = Audience.CHANNEL


@dataclass(frozen=True, slots=True)
class AskerPayload:
    """Somebody to whom something is to be shown."""

    asker: SlackRequest


@dataclass(frozen=True, slots=True)
class NoticePayload:
    """A sentence for the asker, or for everybody in their thread."""

    asker: SlackRequest
    sentence: str


@dataclass(frozen=True, slots=True)
class GreetingPayload:
    """Somebody who is greeted, and why."""

    asker: SlackRequest
    why: Greeting


@dataclass(frozen=True, slots=True)
class DetailsPayload:
    """A pull request that somebody wants a window about; the asker's ``trigger`` opens it."""

    asker: SlackRequest
    reference: Reference


@dataclass(frozen=True, slots=True)
class VotePayload:
    """What somebody thinks of an answer: Slack's time of its message, and good or bad."""

    asker: SlackRequest
    message: str
    verdict: str


@dataclass(frozen=True, slots=True)
class SubscriptionPayload:
    """What somebody says of their regular digests.

    ``wish`` is what they subscribe to, ``which`` those that another ``verb`` is about. From the form come the
    ``channel`` that they chose, and the id of the subscription that it ``replaces``.
    """

    asker: SlackRequest
    verb: str
    wish: SubscriptionRequest | None = None
    which: SubscriptionSelector | None = None
    channel: str = ""
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class PreviewPayload:
    """A preview of the subscription with an id, of what somebody wishes, or of the only one of the channel."""

    asker: SlackRequest
    id: str = ""
    wish: SubscriptionRequest | None = None


@dataclass(frozen=True, slots=True)
class FormPayload:
    """Somebody who opens the form, for the subscription with an id or for a new one."""

    asker: SlackRequest
    id: str = ""


@dataclass(frozen=True, slots=True)
class ThreadPayload:
    """A thread in which questions wait, as ``channel:thread``."""

    place: str


@dataclass(frozen=True, slots=True)
class DeliveryPayload:
    """The subscription whose digest is due, and since when (aware)."""

    name: str
    due: datetime


@dataclass(frozen=True, slots=True)
class DigestPayload:
    """The key of a digest that was posted."""

    key: str


@dataclass(frozen=True, slots=True)
class AmendmentPayload:
    """The key of a digest that was posted, and the instant (aware) of the look that asks to amend it.

    Jobs that were written before looks were named have none.
    """

    key: str
    looked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RepositoryPayload:
    """A repository whose merges are looked at."""

    repository: Repository


@dataclass(frozen=True, slots=True)
class LostJobPayload:
    """A job that will not be done: of an asker, of the questions in a ``place``, or of nobody."""

    job: LostJob
    asker: SlackRequest | None = None
    place: str = ""
