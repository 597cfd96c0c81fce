"""The jobs of commands: what a command declares, and the services for its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from bot.domain.conversations.commands import AllowedRepositories, CommandRequest, ParseContext
from bot.domain.conversations.slack_request import SlackRequest
from bot.render.conversations.greetings import HelpExample
from bot.services.costs.usage_reader import UsageReader
from bot.services.jobs.declaration import JobType
from bot.services.jobs.payloads import CommandPayload
from bot.services.profile.known_profiles import KnownProfiles
from bot.services.slack.answers.answer import Answer
from bot.services.slack.answers.answer_builder import AnswerBuilder
from bot.services.slack.answers.plan_answers import PlanAnswerBuilder
from bot.services.slack.answers.replies import ReplySender
from bot.services.slack.answers.touch_answers import TouchAnswerBuilder
from bot.services.slack.destinations import AnswerDestinations
from bot.services.subscriptions.delivery import DigestDelivery
from bot.services.subscriptions.permissions import SubscriptionPermissions

P = TypeVar("P")
R = TypeVar("R", bound=CommandRequest)

TextParser = Callable[[str, ParseContext], R]


class SubscriptionServices(Protocol):
    """The services for subscriptions that answers of commands use."""

    @property
    def permissions(self) -> SubscriptionPermissions:
        """The permissions of users in channels."""

    @property
    def delivery(self) -> DigestDelivery:
        """The service that posts the digest of a day."""


class TouchServices(Protocol):
    """The services for what touches a team's code that answers of commands use."""

    @property
    def answers(self) -> TouchAnswerBuilder:
        """The builder of lists of contract changes and of hits."""

    @property
    def plans(self) -> PlanAnswerBuilder:
        """The builder of pages for those who were away, of deprecations and of upgrades."""


class CommandServices(Protocol):
    """The services for the answer of a command."""

    @property
    def answers(self) -> AnswerBuilder:
        """The builder of summaries, lists of risks and overviews."""

    @property
    def destinations(self) -> AnswerDestinations:
        """The finder of the conversations in which requests are answered."""

    @property
    def profiles(self) -> KnownProfiles:
        """The profiles that requests may name."""

    @property
    def replies(self) -> ReplySender:
        """The service that sends each request its answer, once."""

    @property
    def repositories(self) -> AllowedRepositories:
        """The repositories that the bot may answer about."""

    @property
    def subscriptions(self) -> SubscriptionServices:
        """The services for subscriptions."""

    @property
    def touches(self) -> TouchServices:
        """The services for what touches a team's code."""

    @property
    def usage(self) -> UsageReader:
        """The reader of what model calls cost."""


JobFunction = Callable[[CommandServices, P], None]
AnswerMaker = Callable[[CommandServices, R, SlackRequest], Answer | None]


@dataclass(frozen=True, slots=True)
class CommandJob(Generic[P]):
    """A job type and the function that runs it; another run must continue where the first attempt ended.

    ``run`` may raise errors for which another attempt makes sense: SlackUnavailable, StoreUnavailable,
    PostingInProgress, RateLimited.
    """

    type: JobType[P]
    run: JobFunction[P]


@dataclass(frozen=True, slots=True)
class CommandJobs:
    """The jobs of the commands, and the examples for the help."""

    jobs: tuple[CommandJob[Any], ...]
    examples: tuple[HelpExample, ...]


def answer_once(
    part: str, make: AnswerMaker[R], describe: Callable[[R], str] = lambda request: ""
) -> JobFunction[CommandPayload[R]]:
    """Return the function of a job with one answer; ``part`` names it in the store and never changes.

    ``describe`` returns what the bot is doing, shown while an answer takes longer than most.

    A request for a repository that the bot may no longer answer about is refused.
    """

    def run(services: CommandServices, payload: CommandPayload[R]) -> None:
        def answer() -> Answer | None:
            request = payload.request.require_known(services.repositories)
            return make(services, request, payload.asker)

        services.replies.give_answer(payload.asker, part, payload.audience, answer, describe(payload.request))

    return run
