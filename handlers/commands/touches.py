"""``/prdigest touches 7d profile:ascend``: what merges do to a team's code.

``/prdigest touches score``: how good the hits were.
"""

from __future__ import annotations

from bot.app import App
from bot.domain.conversations.commands import ParseContext
from bot.domain.conversations.requests.touch_requests import (
    TOUCHES_WORD,
    TouchesRequest,
    TouchScoreRequest,
    is_touch_score,
)
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.operations.lane import QueueName
from bot.jobs.command_jobs import CommandJob, CommandPayload, answer_once
from bot.platform.jobs import LONG_RETRIES, JobType
from bot.render.conversations.greetings import HelpExample
from bot.services.slack.answers.answer import Answer
from handlers.commands.declaration import enqueue_request
from handlers.commands.sub_commands import RequestWord, SubCommand
from handlers.intake import RequestIntake

_USAGE = (
    "*See what touches your code*: `/prdigest touches 7d profile:NAME` lists what merges do to the code of a "
    "profile. `/prdigest touches score` says what became of the hits."
)
# both versions of each changed file are read
_MAX_QUICK_DAYS = 3


def _parse_touches(text: str, context: ParseContext) -> TouchesRequest | TouchScoreRequest:
    """Parse the request for a list, or for a score."""
    return TouchScoreRequest.parse(text) if is_touch_score(text) else TouchesRequest.parse(text, context.today())


TOUCHES_JOB = JobType(TOUCHES_WORD, CommandPayload[TouchesRequest])
LONG_TOUCHES_JOB = JobType("long_touches", CommandPayload[TouchesRequest], QueueName.LONG, LONG_RETRIES)
TOUCH_SCORE_JOB = JobType("touch_score", CommandPayload[TouchScoreRequest])


def _enqueue_touches(
    intake: RequestIntake, asker: SlackRequest, request: TouchesRequest | TouchScoreRequest, audience: Audience
) -> str:
    """Enqueue a list or a score. Nothing is said at once."""
    if isinstance(request, TouchScoreRequest):
        enqueue_request(intake, TOUCH_SCORE_JOB, asker, request, audience)
    else:
        is_quick = len(request.span) <= _MAX_QUICK_DAYS
        enqueue_request(intake, TOUCHES_JOB if is_quick else LONG_TOUCHES_JOB, asker, request, audience)
    return ""


def _describe_list(request: TouchesRequest) -> str:
    """Return what the bot is about to list."""
    return f"Looking for what touches {request.profile or 'your code'}, {request.span.title}…"


def _answer_list(app: App, request: TouchesRequest, asker: SlackRequest) -> Answer:
    """Build the list."""
    return app.touch_answers.build_touches(request, asker.name, app.repositories)


def _answer_score(app: App, request: TouchScoreRequest, asker: SlackRequest) -> Answer:
    """Build the score."""
    return app.touch_answers.build_score(request, asker.name, app.repositories)


_REQUESTS: RequestWord[TouchesRequest | TouchScoreRequest] = RequestWord(
    TOUCHES_WORD,
    (TouchesRequest, TouchScoreRequest),
    parse=_parse_touches,
    enqueue=_enqueue_touches,
    jobs=(
        CommandJob(TOUCHES_JOB, answer_once(TOUCHES_WORD, _answer_list, _describe_list)),
        CommandJob(LONG_TOUCHES_JOB, answer_once(TOUCHES_WORD, _answer_list, _describe_list)),
        CommandJob(TOUCH_SCORE_JOB, answer_once("touch_score", _answer_score)),
    ),
)
SUB_COMMAND = SubCommand(
    usage=_USAGE,
    examples=(HelpExample("digest touches 7d", "what merges do to your own code"),),
    requests=(_REQUESTS,),
)
