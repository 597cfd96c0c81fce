"""The jobs of commands: what a command declares, and what its answer is made with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from bot.domain.conversations.commands import CommandRequest, ParseContext, Repositories
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.operations.lane import Lane
from bot.render.conversations.greetings import HelpExample
from bot.services.jobs.declaration import SOON, JobType, Retries
from bot.services.jobs.job_types import read_slack_request
from bot.services.jobs.payloads import CommandPayload
from bot.services.slack.answers import AnswerBuilder
from bot.services.slack.replies import Answer, Replies
from bot.services.subscriptions.delivery import DigestDelivery
from bot.services.subscriptions.permissions import Rights

P = TypeVar("P")
R = TypeVar("R", bound=CommandRequest)

Parse = Callable[[str, ParseContext], R]


class SubscriptionServices(Protocol):
    """The services around regular digests that answers of commands use."""

    @property
    def rights(self) -> Rights:
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
    def replies(self) -> Replies:
        """What gives each request its answer, once."""

    @property
    def repositories(self) -> Repositories:
        """What the bot may speak of."""

    @property
    def scheduling(self) -> SubscriptionServices:
        """Regular digests."""


Run = Callable[[CommandServices, P], None]
MakeAnswer = Callable[[CommandServices, R, SlackRequest], Answer | None]


@dataclass(frozen=True, slots=True)
class CommandJob(Generic[P]):
    """A kind of job and what a worker does for it; doing it again must go on where the first try ended.

    ``run`` may raise what is worth another try: SlackUnavailable, StoreUnavailable, InProgress, RateLimited.
    """

    type: JobType[P]
    run: Run[P]


@dataclass(frozen=True, slots=True)
class CommandJobs:
    """What workers know of the commands: their jobs, and the examples for the help."""

    jobs: tuple[CommandJob[Any], ...]
    examples: tuple[HelpExample, ...]


def command_job_type(
    name: str,
    request: type[R],
    parse: Parse[R],
    lane: Lane = Lane.QUICK,
    retries: Retries = SOON,
) -> JobType[CommandPayload[R]]:
    """Declare the kind of job that answers a request; ``parse`` reads those of the version before."""

    def read_old(context: ParseContext, visit: Mapping[str, str], text: str, audience: str) -> CommandPayload[R]:
        return CommandPayload(read_slack_request(visit), parse(text, context), Audience(audience))

    return JobType(name, CommandPayload[request], read_old, lane, retries)  # type: ignore[valid-type]


def answer_once(part: str, make: MakeAnswer[R]) -> Run[CommandPayload[R]]:
    """Return what a job does that gives one answer; ``part`` names it in what is kept of it, and never changes.

    A request for a repository that the bot no longer speaks of is refused.
    """

    def run(services: CommandServices, payload: CommandPayload[R]) -> None:
        def answer() -> Answer | None:
            request = payload.request.require_known(services.repositories)
            return make(services, request, payload.asker)

        services.replies.give(payload.asker, part, payload.audience, answer)

    return run
