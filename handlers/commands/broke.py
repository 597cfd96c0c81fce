"""``/prdigest broke TypeError: … since 2026-02-24``: which merge explains an error."""

from __future__ import annotations

from bot.app import App
from bot.domain.conversations.commands import ParseContext
from bot.domain.conversations.requests.broke_request import BROKE_WORD, MAX_BROKE_DAYS, BrokeRequest
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.operations.lane import QueueName
from bot.jobs.command_jobs import CommandJob, CommandPayload, answer_once
from bot.platform.jobs import LONG_RETRIES, JobType
from bot.render.conversations.greetings import HelpExample
from bot.services.slack.answers.answer import Answer
from handlers.commands.declaration import make_enqueuer
from handlers.commands.sub_commands import RequestWord, SubCommand

_USAGE = (
    "*Find what broke you*: `/prdigest broke ERROR since 2026-02-24` ranks the merges that explain an error. "
    "Paste its last line or the whole traceback. `since` takes a day or the last commit that worked "
    f"(up to {MAX_BROKE_DAYS} days)."
)


def _parse_error(text: str, context: ParseContext) -> BrokeRequest:
    """Parse the error and its start, with or without the first word."""
    return BrokeRequest.parse(text, context.repositories, context.today())


# the contract of every merge since then is read
BROKE_JOB = JobType(BROKE_WORD, CommandPayload[BrokeRequest], QueueName.LONG, LONG_RETRIES)


def _describe(request: BrokeRequest) -> str:
    """Return what the bot is about to look at."""
    return f"Looking for what explains this error in {request.repository} since {request.since}…"


def _answer(app: App, request: BrokeRequest, asker: SlackRequest) -> Answer:
    """Build the list of suspects."""
    return app.touch_answers.build_suspects(request, asker.name)


SUB_COMMAND = SubCommand(
    usage=_USAGE,
    examples=(HelpExample("digest broke KeyError: 'x' since 7d", "which merge explains an error"),),
    requests=(
        RequestWord(
            BROKE_WORD,
            (BrokeRequest,),
            parse=_parse_error,
            enqueue=make_enqueuer(BROKE_JOB),
            jobs=(CommandJob(BROKE_JOB, answer_once(BROKE_WORD, _answer, _describe)),),
        ),
    ),
)
