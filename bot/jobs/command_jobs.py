"""The jobs of commands: what a command declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from bot.app import App
from bot.domain.conversations.commands import CommandRequest, ParseContext
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.platform.jobs import JobType
from bot.platform.slack.answers import Answer

P = TypeVar("P")
R = TypeVar("R", bound=CommandRequest)

TextParser = Callable[[str, ParseContext], R]


@dataclass(frozen=True, slots=True)
class CommandPayload(Generic[R]):
    """The request of a command, and the audience of the answer."""

    asker: SlackRequest
    request: R
    audience: Audience = Audience.CHANNEL


JobFunction = Callable[[App, P], None]
AnswerMaker = Callable[[App, R, SlackRequest], Answer | None]


@dataclass(frozen=True, slots=True)
class CommandJob(Generic[P]):
    """A job type and the function that runs it; another run must continue where the first attempt ended.

    ``run`` may raise errors for which another attempt makes sense: SlackUnavailable, StoreUnavailable,
    PostingInProgress, RateLimited.
    """

    type: JobType[P]
    run: JobFunction[P]


def answer_once(
    part: str, make: AnswerMaker[R], describe: Callable[[R], str] = lambda request: ""
) -> JobFunction[CommandPayload[R]]:
    """Return the function of a job with one answer; ``part`` names it in the store and never changes.

    ``describe`` returns what the bot is doing, shown while an answer takes longer than most.

    A request for a repository that the bot may no longer answer about is refused.
    """

    def run(app: App, payload: CommandPayload[R]) -> None:
        def answer() -> Answer | None:
            request = payload.request.require_known(app.repositories)
            return make(app, request, payload.asker)

        app.replies.give_answer(payload.asker, part, payload.audience, answer, describe(payload.request))

    return run
