"""The payloads of jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from bot.domain.conversations.commands import CommandRequest
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.operations.lost_job import LostJob
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.subscriptions.request import SubscriptionRequest, SubscriptionSelector, SubscriptionVerb
from bot.render.blocks.button_values import FeedbackVerdict, HitVote
from bot.render.conversations.greetings import Greeting

R = TypeVar("R", bound=CommandRequest)


@dataclass(frozen=True, slots=True)
class CommandPayload(Generic[R]):
    """The request of a command, and the audience of the answer."""

    asker: SlackRequest
    request: R
    audience: Audience = Audience.CHANNEL


@dataclass(frozen=True, slots=True)
class AskerPayload:
    """A user to whom something is shown."""

    asker: SlackRequest


@dataclass(frozen=True, slots=True)
class NoticePayload:
    """A sentence for the asker, or for everybody in their thread."""

    asker: SlackRequest
    sentence: str


@dataclass(frozen=True, slots=True)
class GreetingPayload:
    """A user to greet, and the occasion."""

    asker: SlackRequest
    why: Greeting


@dataclass(frozen=True, slots=True)
class DetailsPayload:
    """A pull request whose details a user wants to see; the ``trigger`` of ``asker`` opens the modal."""

    asker: SlackRequest
    reference: Reference


@dataclass(frozen=True, slots=True)
class VotePayload:
    """A vote on an answer: Slack's timestamp of its message, and good or bad."""

    asker: SlackRequest
    message: str
    verdict: FeedbackVerdict


@dataclass(frozen=True, slots=True)
class HitVotePayload:
    """What somebody said about a hit, and when (aware) they pressed the button.

    ``blocks_json`` are the blocks of its message, empty if only they see it.
    """

    asker: SlackRequest
    vote: HitVote
    at: datetime
    blocks_json: str = ""


@dataclass(frozen=True, slots=True)
class AgentTaskPayload:
    """A hit for which a user wants a task; the ``trigger`` of ``asker`` opens the modal."""

    asker: SlackRequest
    profile: str
    reference: Reference


@dataclass(frozen=True, slots=True)
class SubscriptionPayload:
    """A command about subscriptions.

    ``wish`` is the requested subscription, ``which`` selects those that another ``verb`` is about. A form adds the
    ``channel`` that was selected, and the id of the subscription that it ``replaces``.
    """

    asker: SlackRequest
    verb: SubscriptionVerb
    wish: SubscriptionRequest | None = None
    which: SubscriptionSelector | None = None
    channel: str = ""
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class PreviewPayload:
    """A preview of the subscription with an id, of a requested one (``wish``), or of the channel's only one."""

    asker: SlackRequest
    id: str = ""
    wish: SubscriptionRequest | None = None


@dataclass(frozen=True, slots=True)
class FormPayload:
    """A user who opens the form, for the subscription with an id or for a new one."""

    asker: SlackRequest
    id: str = ""


@dataclass(frozen=True, slots=True)
class ThreadPayload:
    """A thread with waiting questions, as ``channel:thread``."""

    place: str


@dataclass(frozen=True, slots=True)
class DeliveryPayload:
    """The id of the subscription whose digest is due, and since when (aware)."""

    name: str
    due: datetime


@dataclass(frozen=True, slots=True)
class DigestPayload:
    """The key of a posted digest."""

    key: str


@dataclass(frozen=True, slots=True)
class AmendmentPayload:
    """The key of a posted digest, and the instant (aware) of the check that asks to amend it."""

    key: str
    looked_at: datetime


@dataclass(frozen=True, slots=True)
class RepositoryPayload:
    """A repository whose merges are checked."""

    repository: Repository


@dataclass(frozen=True, slots=True)
class ProfilePayload:
    """The name of a profile whose tree is scanned again."""

    name: str


@dataclass(frozen=True, slots=True)
class LostJobPayload:
    """A lost job: of an asker, of the questions in a thread (``place``), or of nobody."""

    job: LostJob
    asker: SlackRequest | None = None
    place: str = ""
