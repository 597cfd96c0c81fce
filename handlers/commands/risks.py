"""``/prrisks 7d path:vllm/v1``: what was taken back in some days, and what deserves a second look.

``/prrisks score 90d``: how good such lists were.
"""

from __future__ import annotations

from bot.domain.conversations.commands import (
    LONGEST_RISKS,
    LONGEST_SCORE,
    MOST_RISKS,
    ParseContext,
    RisksRequest,
    ScoreRequest,
    is_score,
)
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.operations.lane import Lane
from bot.render.blocks.buttons import SHARE_RISKS
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.conversations.greetings import HelpExample
from bot.services.jobs.command_jobs import CommandJob, CommandServices, answer_once, command_job_type
from bot.services.jobs.job_types import LONG
from bot.services.slack.replies import Answer
from handlers.commands.declaration import Command, send_request
from handlers.intake import RequestIntake

USAGE = (
    "Ask what may hurt: `/prrisks`, `/prrisks today`, `7d`, `2026-02-28` or `2026-02-24..2026-02-28` "
    f"(up to {LONGEST_RISKS} days), narrowed by `path:vllm/v1`, `author:name`, `label:bug`, `repo:owner/name`; "
    f"`top:{MOST_RISKS}` lists as many, also those that don't stand out, `private` keeps it to yourself. "
    f"`/prrisks score 90d` says how good my lists were (up to {LONGEST_SCORE} days)."
)

# the files of more than a hundred pull requests may have to be asked for; quick answers shall not wait behind that
_FEW_DAYS = 3
_STANDS_OUT = "what was taken back, and what deserves a second look"


def _parse_list(text: str, context: ParseContext) -> RisksRequest:
    return RisksRequest.parse(text, context.repositories, context.today())


def _parse_score(text: str, context: ParseContext) -> ScoreRequest:
    return ScoreRequest.parse(text, context.repositories, context.today())


def _parse(text: str, context: ParseContext) -> RisksRequest | ScoreRequest:
    return _parse_score(text, context) if is_score(text) else _parse_list(text, context)


RISKS = command_job_type("risks", RisksRequest, _parse_list)
LONG_RISKS = command_job_type("long_risks", RisksRequest, _parse_list, Lane.LONG, LONG)
SCORE = command_job_type("score", ScoreRequest, _parse_score)


def _enqueue(
    intake: RequestIntake, asker: SlackRequest, request: RisksRequest | ScoreRequest, audience: Audience
) -> str:
    if isinstance(request, ScoreRequest):
        send_request(intake, SCORE, asker, request, audience)
        return escape_mrkdwn(f"Looking at what became of the lists of {request.repository}, {request.span.title}…")
    send_request(intake, RISKS if len(request.span) <= _FEW_DAYS else LONG_RISKS, asker, request, audience)
    narrowed = f", {request.filters}" if request.filters else ""
    return escape_mrkdwn(f"Looking at {request.repository}, {request.span.title}{narrowed}…")


def _answer_list(services: CommandServices, request: RisksRequest, asker: SlackRequest) -> Answer:
    return services.answers.build_risks(request, asker.name)


def _answer_score(services: CommandServices, request: ScoreRequest, asker: SlackRequest) -> Answer:
    return services.answers.build_score(request, asker.name)


COMMAND: Command[RisksRequest | ScoreRequest] = Command(
    name="/prrisks",
    description="List what was taken back and what deserves a second look",
    hint="[7d | 2026-02-28] [path:… author:… label:…] [top:5] | score 90d | help",
    usage=USAGE,
    words=("risks", "prrisks"),
    requests=(RisksRequest, ScoreRequest),
    parse=_parse,
    enqueue=_enqueue,
    jobs=(
        CommandJob(RISKS, answer_once("risks", _answer_list)),
        CommandJob(LONG_RISKS, answer_once("risks", _answer_list)),
        CommandJob(SCORE, answer_once("score", _answer_score)),
    ),
    examples=(
        HelpExample("risks 7d", _STANDS_OUT, _STANDS_OUT),
        HelpExample("risks score", "how good such lists were"),
    ),
    share=SHARE_RISKS,
)
