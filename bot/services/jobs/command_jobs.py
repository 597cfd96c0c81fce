"""The jobs of commands: what a command declares, and what its answer is made with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from bot.domain.conversations.commands import AllowedRepositories, CommandRequest, ParseContext
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.operations.lane import QueueName
from bot.render.conversations.greetings import HelpExample
from bot.services.jobs.declaration import QUICK_RETRIES, JobRetries, JobType
from bot.services.jobs.job_types import read_slack_request
from bot.services.jobs.payloads import CommandPayload
from bot.services.slack.answers import AnswerBuilder
from bot.services.slack.replies import Answer, ReplySender
from bot.services.subscriptions.delivery import DigestDelivery
from bot.services.subscriptions.permissions import SubscriptionPermissions

P = TypeVar("P")
R = TypeVar("R", bound=CommandRequest)

TextParser = Callable[[str, ParseContext], R]


class SubscriptionServices(Protocol):
    """The services around regular digests that answers of commands use."""

    @property
    def permissions(self) -> SubscriptionPermissions:
        """Who may do what in a channel."""

    @property
    def delivery(self) -> DigestDelivery:
        """What posts the digest of a day."""


class CommandServices(Protocol):
    """The services that the answer of a command is made with."""

    @property
    def answers(self) -> AnswerBuilder:
        """Summaries, lists of risks and overviews."""

    @property
    def replies(self) -> ReplySender:
        """What gives each request its answer, once."""

    @property
    def repositories(self) -> AllowedRepositories:
        """What the bot may speak of."""

    @property
    def subscriptions(self) -> SubscriptionServices:
        """Regular digests."""


JobFunction = Callable[[CommandServices, P], None]
AnswerMaker = Callable[[CommandServices, R, SlackRequest], Answer | None]


@dataclass(frozen=True, slots=True)
class CommandJob(Generic[P]):
    """A kind of job and what a worker does for it; doing it again must go on where the first try ended.

    ``run`` may raise what is worth another try: SlackUnavailable, StoreUnavailable, InProgress, RateLimited.
    """

    type: JobType[P]
    run: JobFunction[P]


@dataclass(frozen=True, slots=True)
class CommandJobs:
    """What workers know of the commands: their jobs, and the examples for the help."""

    jobs: tuple[CommandJob[Any], ...]
    examples: tuple[HelpExample, ...]


def make_command_job_type(
    name: str,
    request: type[R],
    parse: TextParser[R],
    lane: QueueName = QueueName.QUICK,
    retries: JobRetries = QUICK_RETRIES,
) -> JobType[CommandPayload[R]]:
    """Declare the kind of job that answers a request; ``parse`` reads those of the version before."""

    def read_old(
        context: ParseContext, slack_request: Mapping[str, str], text: str, audience: str
    ) -> CommandPayload[R]:
        return CommandPayload(read_slack_request(slack_request), parse(text, context), Audience(audience))

    return JobType(name, CommandPayload[request], read_old, lane, retries)  # type: ignore[valid-type]


def answer_once(part: str, make: AnswerMaker[R]) -> JobFunction[CommandPayload[R]]:
    """Return what a job does that gives one answer; ``part`` names it in what is kept of it, and never changes.

    A request for a repository that the bot no longer speaks of is refused.
    """

    def run(services: CommandServices, payload: CommandPayload[R]) -> None:
        def answer() -> Answer | None:
            request = payload.request.require_known(services.repositories)
            return make(services, request, payload.asker)

        services.replies.give_answer(payload.asker, part, payload.audience, answer)

    return run
