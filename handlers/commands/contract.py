"""``/prdigest contract 7d``: what the merges of some days change for code built on the repository."""

from __future__ import annotations

from bot.app import App
from bot.domain.conversations.commands import ParseContext
from bot.domain.conversations.requests.touch_requests import CONTRACT_WORD, MAX_CONTRACT_DAYS, ContractRequest
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
    "*See what changes for others*: `/prdigest contract 7d` lists names, flags, variables, fields and metrics "
    f"that merges removed, renamed or changed (up to {MAX_CONTRACT_DAYS} days). `path:…`, `author:…` and "
    "`label:…` filter."
)
# both versions of each changed file are read
_MAX_QUICK_DAYS = 3


def _parse_contract(text: str, context: ParseContext) -> ContractRequest:
    """Parse the request for a list."""
    return ContractRequest.parse(text, context.repositories, context.today())


CONTRACT_JOB = JobType(CONTRACT_WORD, CommandPayload[ContractRequest])
LONG_CONTRACT_JOB = JobType("long_contract", CommandPayload[ContractRequest], QueueName.LONG, LONG_RETRIES)


def _enqueue_contract(
    intake: RequestIntake, asker: SlackRequest, request: ContractRequest, audience: Audience
) -> str:
    """Enqueue a list. Nothing is said at once."""
    is_quick = len(request.span) <= _MAX_QUICK_DAYS
    enqueue_request(intake, CONTRACT_JOB if is_quick else LONG_CONTRACT_JOB, asker, request, audience)
    return ""


def _describe(request: ContractRequest) -> str:
    """Return what the bot is about to list."""
    narrowed = f", {request.filters}" if request.filters else ""
    return f"Reading what {request.repository} changed for others, {request.span.title}{narrowed}…"


def _answer(app: App, request: ContractRequest, asker: SlackRequest) -> Answer:
    """Build the list."""
    return app.touch_answers.build_contract(request, asker.name)


SUB_COMMAND = SubCommand(
    usage=_USAGE,
    examples=(HelpExample("digest contract 7d", "what merges removed, renamed or changed for others"),),
    requests=(
        RequestWord(
            CONTRACT_WORD,
            (ContractRequest,),
            parse=_parse_contract,
            enqueue=_enqueue_contract,
            jobs=(
                CommandJob(CONTRACT_JOB, answer_once(CONTRACT_WORD, _answer, _describe)),
                CommandJob(LONG_CONTRACT_JOB, answer_once(CONTRACT_WORD, _answer, _describe)),
            ),
        ),
    ),
)
