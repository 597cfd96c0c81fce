"""``/prrisks 7d path:vllm/v1``: the reverts of some days, and the changes that deserve a second look.

``/prrisks score 90d``: how good such lists were.
"""

from __future__ import annotations

from dataclasses import replace

from bot.app import App
from bot.domain.conversations.commands import (
    MAX_RISKS_DAYS,
    MAX_SCORE_DAYS,
    MAX_TOP_RISKS,
    SCORE_WORD,
    ParseContext,
    RisksRequest,
    ScoreRequest,
    is_score_request,
)
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.operations.lane import QueueName
from bot.jobs.command_jobs import CommandJob, CommandPayload, answer_once
from bot.platform.jobs import LONG_RETRIES, JobType
from bot.platform.slack.answers import Answer
from bot.render.blocks.buttons import SHARE_RISKS
from bot.render.conversations.greetings import HelpExample
from handlers.declaration import Command, enqueue_request

USAGE = (
    "*List risky changes*: `/prrisks`, `/prrisks today`, `7d`, `2026-02-28` or `2026-02-24..2026-02-28` (up "
    f"to {MAX_RISKS_DAYS} days). Filter with `path:vllm/v1`, `author:name`, `label:bug` or "
    "`repo:owner/name`: one of several paths, authors or labels is enough, and all kinds must fit. "
    "`profile:NAME` lists what touches your own code. "
    f"`top:{MAX_TOP_RISKS}` ranks more changes, including those that don't stand out. "
    "`private` keeps the list to yourself.\n*Check the lists*: `/prrisks score 90d` says how good they were "
    f"(up to {MAX_SCORE_DAYS} days)."
)

# the files of more than a hundred pull requests may have to be fetched; quick answers must not wait behind that
_MAX_QUICK_DAYS = 3
_LIST_MEANING = "reverted changes, and those worth a second look"


def _parse_request(text: str, context: ParseContext) -> RisksRequest | ScoreRequest:
    """Parse the request for a list, or for the score of past lists."""
    kind = ScoreRequest if is_score_request(text) else RisksRequest
    return kind.parse(text, context.repositories, context.today())


RISKS_JOB = JobType("risks", CommandPayload[RisksRequest])
LONG_RISKS_JOB = JobType("long_risks", CommandPayload[RisksRequest], QueueName.LONG, LONG_RETRIES)
SCORE_JOB = JobType("score", CommandPayload[ScoreRequest])


def _enqueue_risks(app: App, asker: SlackRequest, request: RisksRequest | ScoreRequest, audience: Audience) -> str:
    """Enqueue a list or a score. Nothing is said at once: most answers come within seconds."""
    if isinstance(request, ScoreRequest):
        enqueue_request(app, SCORE_JOB, asker, request, audience)
    else:
        is_quick = len(request.span) <= _MAX_QUICK_DAYS
        enqueue_request(app, RISKS_JOB if is_quick else LONG_RISKS_JOB, asker, request, audience)
    return ""


def _describe_list(request: RisksRequest) -> str:
    """Return what the bot is about to list."""
    narrowed = f", {request.selection}" if request.selection else ""
    return f"Looking at {request.repository}, {request.span.title}{narrowed}…"


def _describe_score(request: ScoreRequest) -> str:
    """Return what the bot is about to compare."""
    return f"Checking the risk lists of {request.repository}, {request.span.title}…"


def _answer_list(app: App, request: RisksRequest, asker: SlackRequest) -> Answer:
    """Build the risk list."""
    known = replace(request, profile=app.profiles.require_known(request.profile, request.repository))
    return app.answers.build_risks(known, asker.name)


def _answer_score(app: App, request: ScoreRequest, asker: SlackRequest) -> Answer:
    """Build the score of past lists."""
    return app.answers.build_score(request, asker.name)


COMMAND: Command[RisksRequest | ScoreRequest] = Command(
    name="/prrisks",
    description="List reverted changes and those worth a second look",
    hint="[7d | 2026-02-28] [path:… author:… profile:…] [top:5] | score 90d | help",
    usage=USAGE,
    trigger_words=("risks", "prrisks"),
    request_types=(RisksRequest, ScoreRequest),
    parse=_parse_request,
    enqueue=_enqueue_risks,
    jobs=(
        CommandJob(RISKS_JOB, answer_once("risks", _answer_list, _describe_list)),
        CommandJob(LONG_RISKS_JOB, answer_once("risks", _answer_list, _describe_list)),
        CommandJob(SCORE_JOB, answer_once("score", _answer_score, _describe_score)),
    ),
    examples=(
        HelpExample("risks 7d", _LIST_MEANING, _LIST_MEANING),
        HelpExample("risks score", "how good the risk lists were"),
    ),
    share_action=SHARE_RISKS,
    keywords=("today", "yesterday", SCORE_WORD),
)
