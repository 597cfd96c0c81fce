"""``/prdigest usage``: what model calls cost, what for, and how much of the limits is left."""

from __future__ import annotations

from bot.app import App
from bot.domain.conversations.commands import ParseContext
from bot.domain.conversations.requests.usage_request import USAGE_WORD, UsageRequest
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.jobs.command_jobs import CommandJob, CommandPayload, answer_once
from bot.platform.jobs import JobType
from bot.render.conversations.greetings import HelpExample
from bot.services.slack.answers.answer import Answer
from bot.services.slack.answers.answer_builder import build_usage
from handlers.commands.declaration import enqueue_request
from handlers.commands.sub_commands import RequestWord, SubCommand
from handlers.intake import RequestIntake

_USAGE = (
    "*See the cost*: `/prdigest usage` says what the model cost today and this month, `/prdigest usage 2026-10` "
    "what it cost in another."
)


def _parse_usage(text: str, context: ParseContext) -> UsageRequest:
    """Parse the request."""
    return UsageRequest.parse(text, context.today().date)


USAGE_JOB = JobType(USAGE_WORD, CommandPayload[UsageRequest])


def enqueue_usage(intake: RequestIntake, asker: SlackRequest, request: UsageRequest, audience: Audience) -> str:
    """Enqueue a report, for the asker alone unless it is shared. Nothing is said at once."""
    own = Audience.SHARED if audience is Audience.SHARED else Audience.ASKER
    enqueue_request(intake, USAGE_JOB, asker, request, own)
    return ""


def _answer(app: App, request: UsageRequest, asker: SlackRequest) -> Answer:
    """Build the report."""
    return build_usage(app.usage.read_usage(request.month), request, asker.name)


SUB_COMMAND = SubCommand(
    usage=_USAGE,
    examples=(HelpExample("digest usage", "what the model cost, and how much of the limits is left"),),
    requests=(
        RequestWord(
            USAGE_WORD,
            (UsageRequest,),
            parse=_parse_usage,
            enqueue=enqueue_usage,
            jobs=(CommandJob(USAGE_JOB, answer_once(USAGE_WORD, _answer)),),
        ),
    ),
)
