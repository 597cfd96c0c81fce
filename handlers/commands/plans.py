"""``/prdigest since 2026-11-01``, ``/prdigest deprecations`` and ``/prdigest upgrade``: coming back, moving on."""

from __future__ import annotations

from typing import TypeAlias

from bot.domain.conversations.commands import ParseContext
from bot.domain.conversations.plan_requests import (
    DEPRECATIONS_WORD,
    MAX_SINCE_DAYS,
    SINCE_WORD,
    UPGRADE_WORD,
    DeprecationsRequest,
    SinceRequest,
    UpgradeRequest,
)
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.operations.lane import QueueName
from bot.render.conversations.greetings import HelpExample
from bot.services.jobs.command_jobs import CommandJob, CommandServices, answer_once, make_command_job_type
from bot.services.jobs.job_types import LONG_RETRIES
from bot.services.slack.answers.answer import Answer
from handlers.commands.declaration import enqueue_request
from handlers.intake import RequestIntake

USAGE = (
    f"*Come back*: `/prdigest since 2026-11-01` is one page on all days since (up to {MAX_SINCE_DAYS}), from what "
    "was read before. *Move on*: `/prdigest deprecations` lists what will be removed, `/prdigest upgrade "
    "v1.2.0` what to adapt on the way from a tag or commit to now. All take `profile:NAME`."
)
EXAMPLE = HelpExample("digest since 2026-11-01", "one page on all that was merged since a day")
PlanRequest: TypeAlias = SinceRequest | DeprecationsRequest | UpgradeRequest
PLAN_WORDS = (SINCE_WORD, DEPRECATIONS_WORD, UPGRADE_WORD)
PLAN_REQUESTS = (SinceRequest, DeprecationsRequest, UpgradeRequest)


def parse_since(text: str, context: ParseContext) -> SinceRequest:
    """Parse the request for a page."""
    return SinceRequest.parse(text, context.repositories, context.today())


def parse_deprecations(text: str, context: ParseContext) -> DeprecationsRequest:
    """Parse the request for deprecations."""
    return DeprecationsRequest.parse(text, context.repositories)


def parse_upgrade(text: str, _: ParseContext) -> UpgradeRequest:
    """Parse the request for an upgrade."""
    return UpgradeRequest.parse(text)


def parse_plan(text: str, context: ParseContext) -> PlanRequest:
    """Parse the text by its first word, which is one of ``PLAN_WORDS``."""
    word = text.split(maxsplit=1)[0].lower()
    if word == SINCE_WORD:
        return parse_since(text, context)
    return parse_deprecations(text, context) if word == DEPRECATIONS_WORD else parse_upgrade(text, context)


SINCE_JOB = make_command_job_type(SINCE_WORD, SinceRequest, parse_since, QueueName.LONG, LONG_RETRIES)
DEPRECATIONS_JOB = make_command_job_type(DEPRECATIONS_WORD, DeprecationsRequest, parse_deprecations)
UPGRADE_JOB = make_command_job_type(UPGRADE_WORD, UpgradeRequest, parse_upgrade, QueueName.LONG, LONG_RETRIES)


def enqueue_plan(intake: RequestIntake, asker: SlackRequest, request: PlanRequest, audience: Audience) -> str:
    """Enqueue one of the requests. Nothing is said at once."""
    match request:
        case SinceRequest():
            enqueue_request(intake, SINCE_JOB, asker, request, audience)
        case DeprecationsRequest():
            enqueue_request(intake, DEPRECATIONS_JOB, asker, request, audience)
        case UpgradeRequest():
            enqueue_request(intake, UPGRADE_JOB, asker, request, audience)
    return ""


def _describe_since(request: SinceRequest) -> str:
    """Return what the bot is about to show."""
    return f"Collecting what I know of {request.repository} since {request.span.first}…"


def _describe_deprecations(request: DeprecationsRequest) -> str:
    """Return what the bot is about to list."""
    return f"Looking up what {request.repository} will remove…"


def _describe_upgrade(request: UpgradeRequest) -> str:
    """Return what the bot is about to plan."""
    return f"Planning the upgrade from {request.start or 'your pin'}… Merges I haven't read yet take a while."


def _answer_since(services: CommandServices, request: SinceRequest, asker: SlackRequest) -> Answer:
    """Build the page."""
    return services.touches.plans.build_since(request, asker.name, services.repositories)


def _answer_deprecations(services: CommandServices, request: DeprecationsRequest, asker: SlackRequest) -> Answer:
    """Build the list of deprecations."""
    return services.touches.plans.build_deprecations(request, asker.name, services.repositories)


def _answer_upgrade(services: CommandServices, request: UpgradeRequest, asker: SlackRequest) -> Answer:
    """Build the plan."""
    return services.touches.plans.build_upgrade(request, asker.name, services.repositories)


JOBS = (
    CommandJob(SINCE_JOB, answer_once(SINCE_WORD, _answer_since, _describe_since)),
    CommandJob(DEPRECATIONS_JOB, answer_once(DEPRECATIONS_WORD, _answer_deprecations, _describe_deprecations)),
    CommandJob(UPGRADE_JOB, answer_once(UPGRADE_WORD, _answer_upgrade, _describe_upgrade)),
)
