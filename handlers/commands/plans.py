"""``/prdigest since 2026-11-01``, ``/prdigest deprecations`` and ``/prdigest upgrade``: coming back, moving on."""

from __future__ import annotations

from bot.app import App
from bot.domain.conversations.commands import ParseContext
from bot.domain.conversations.requests.plan_requests import (
    DEPRECATIONS_WORD,
    MAX_SINCE_DAYS,
    SINCE_WORD,
    UPGRADE_WORD,
    DeprecationsRequest,
    SinceRequest,
    UpgradeRequest,
)
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.operations.lane import QueueName
from bot.jobs.command_jobs import CommandJob, CommandPayload, answer_once
from bot.platform.jobs import LONG_RETRIES, JobType
from bot.render.conversations.greetings import HelpExample
from bot.services.slack.answers.answer import Answer
from handlers.commands.declaration import make_enqueuer
from handlers.commands.sub_commands import RequestWord, SubCommand

_USAGE = (
    f"*Come back*: `/prdigest since 2026-11-01` is one page on all days since (up to {MAX_SINCE_DAYS}), from what "
    "was read before. *Move on*: `/prdigest deprecations` lists what will be removed, `/prdigest upgrade "
    "v1.2.0` what to adapt on the way from a tag or commit to now. All take `profile:NAME`."
)


def _parse_since(text: str, context: ParseContext) -> SinceRequest:
    """Parse the request for a page."""
    return SinceRequest.parse(text, context.repositories, context.today())


def _parse_deprecations(text: str, context: ParseContext) -> DeprecationsRequest:
    """Parse the request for deprecations."""
    return DeprecationsRequest.parse(text, context.repositories)


def _parse_upgrade(text: str, _: ParseContext) -> UpgradeRequest:
    """Parse the request for an upgrade."""
    return UpgradeRequest.parse(text)


SINCE_JOB = JobType(SINCE_WORD, CommandPayload[SinceRequest], QueueName.LONG, LONG_RETRIES)
DEPRECATIONS_JOB = JobType(DEPRECATIONS_WORD, CommandPayload[DeprecationsRequest])
UPGRADE_JOB = JobType(UPGRADE_WORD, CommandPayload[UpgradeRequest], QueueName.LONG, LONG_RETRIES)


def _describe_since(request: SinceRequest) -> str:
    """Return what the bot is about to show."""
    return f"Collecting what I know of {request.repository} since {request.span.first}…"


def _describe_deprecations(request: DeprecationsRequest) -> str:
    """Return what the bot is about to list."""
    return f"Looking up what {request.repository} will remove…"


def _describe_upgrade(request: UpgradeRequest) -> str:
    """Return what the bot is about to plan."""
    return f"Planning the upgrade from {request.start or 'your pin'}… Merges I haven't read yet take a while."


def _answer_since(app: App, request: SinceRequest, asker: SlackRequest) -> Answer:
    """Build the page."""
    return app.plan_answers.build_since(request, asker.name, app.repositories)


def _answer_deprecations(app: App, request: DeprecationsRequest, asker: SlackRequest) -> Answer:
    """Build the list of deprecations."""
    return app.plan_answers.build_deprecations(request, asker.name, app.repositories)


def _answer_upgrade(app: App, request: UpgradeRequest, asker: SlackRequest) -> Answer:
    """Build the plan."""
    return app.plan_answers.build_upgrade(request, asker.name, app.repositories)


_SINCE = RequestWord(
    SINCE_WORD,
    (SinceRequest,),
    parse=_parse_since,
    enqueue=make_enqueuer(SINCE_JOB),
    jobs=(CommandJob(SINCE_JOB, answer_once(SINCE_WORD, _answer_since, _describe_since)),),
)
_DEPRECATIONS = RequestWord(
    DEPRECATIONS_WORD,
    (DeprecationsRequest,),
    parse=_parse_deprecations,
    enqueue=make_enqueuer(DEPRECATIONS_JOB),
    jobs=(
        CommandJob(DEPRECATIONS_JOB, answer_once(DEPRECATIONS_WORD, _answer_deprecations, _describe_deprecations)),
    ),
)
_UPGRADE = RequestWord(
    UPGRADE_WORD,
    (UpgradeRequest,),
    parse=_parse_upgrade,
    enqueue=make_enqueuer(UPGRADE_JOB),
    jobs=(CommandJob(UPGRADE_JOB, answer_once(UPGRADE_WORD, _answer_upgrade, _describe_upgrade)),),
)
SUB_COMMAND = SubCommand(
    usage=_USAGE,
    examples=(
        HelpExample("digest since 2026-11-01", "one page on all that was merged since a day"),
        HelpExample("digest deprecations", "what will be removed, and what takes its place"),
        HelpExample("digest upgrade v1.2.0", "what to adapt on the way from a tag or commit to now"),
    ),
    requests=(_SINCE, _DEPRECATIONS, _UPGRADE),
)
