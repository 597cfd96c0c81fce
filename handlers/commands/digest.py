"""``/prdigest``: the digest of a day in this channel, or several days as one overview."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from bot.domain.conversations.broke_request import BROKE_WORD, BrokeRequest
from bot.domain.conversations.commands import MAX_DIGEST_DAYS, DigestRequest, ParseContext
from bot.domain.conversations.plan_requests import DeprecationsRequest, SinceRequest, UpgradeRequest
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.conversations.touch_requests import (
    CONTRACT_WORD,
    TOUCHES_WORD,
    ContractRequest,
    TouchesRequest,
    TouchScoreRequest,
)
from bot.domain.conversations.usage_request import USAGE_WORD, UsageRequest
from bot.domain.operations.lane import QueueName
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.models import DigestSpec
from bot.domain.time.date_range import parse_exact_span
from bot.domain.time.day import parse_zone
from bot.render.blocks.buttons import SHARE_DIGEST, add_buttons, make_repeat_button
from bot.render.conversations.greetings import HelpExample
from bot.render.conversations.notices import render_existing_digest
from bot.services.jobs.command_jobs import CommandJob, CommandServices, answer_once, make_command_job_type
from bot.services.jobs.declaration import MINUTE, JobRetries, JobType
from bot.services.jobs.job_types import LONG_RETRIES, read_slack_request
from bot.services.jobs.payloads import CommandPayload
from bot.services.slack.answers.answer import Answer
from handlers.commands import broke, contract, plans, previews, subscriptions, touches, usage
from handlers.commands.declaration import Command, choose_audience, enqueue_request
from handlers.intake import RequestIntake

USAGE = (
    "*Get a digest*: `/prdigest` for yesterday, or `/prdigest 2026-02-28` for another day. `today`, `7d` or "
    f"`2026-02-24..2026-02-28` (up to {MAX_DIGEST_DAYS} days) give one overview. Add `repo:owner/name` for "
    "another repository or `tz:Asia/Tokyo` for another time zone. `path:…`, `author:…`, `label:…` or "
    "`only:risky` show a part of it; `profile:NAME` begins with what touches your own code, `only:touching` shows "
    "nothing else. `private` keeps an overview to yourself.\n"
    f"{contract.USAGE}\n{touches.USAGE}\n{broke.USAGE}\n{plans.USAGE}\n{subscriptions.USAGE}\n"
    f"{previews.USAGE}\n{usage.USAGE}"
)
AnyRequest: TypeAlias = (
    DigestRequest
    | ContractRequest
    | TouchesRequest
    | TouchScoreRequest
    | BrokeRequest
    | UsageRequest
    | plans.PlanRequest
)


def _parse_request(text: str, context: ParseContext) -> DigestRequest:
    """Parse the text. Days begin where those of the channel's own digests do, unless the text names a zone."""
    own = context.zone()
    request = DigestRequest.parse(text, context.repositories, context.today(own), context.today)
    is_other = request.zone is None and request.span.zone != context.today().zone
    return replace(request, zone=request.span.zone) if is_other else request


def _read_old_payload(
    _: ParseContext, slack_request: Mapping[str, str], repository: str, date: str, zone: str
) -> CommandPayload[DigestRequest]:
    """Return the payload of a job that an earlier version enqueued."""
    request = DigestRequest(Repository.parse(repository), parse_exact_span(date, parse_zone(zone)))
    return CommandPayload(read_slack_request(slack_request), request, Audience.ASKER)


OVERVIEW_JOB = make_command_job_type("overview", DigestRequest, _parse_request, QueueName.LONG, LONG_RETRIES)
# a digest is worth retries over hours
DIGEST_JOB = JobType(
    "digest",
    CommandPayload[DigestRequest],
    _read_old_payload,
    QueueName.LONG,
    JobRetries(20, MINUTE // 2, 15 * MINUTE),
)


def _parse_any(text: str, context: ParseContext) -> AnyRequest:
    """Parse the text as one of the requests, by its first word."""
    word = "".join(text.lower().split(maxsplit=1)[:1])
    if word in plans.PLAN_WORDS:
        return plans.parse_plan(text, context)
    if word == CONTRACT_WORD:
        return contract.parse_contract(text, context)
    if word == BROKE_WORD:
        return broke.parse_error(text, context)
    if word == USAGE_WORD:
        return usage.parse_usage(text, context)
    return touches.parse_touches(text, context) if word == TOUCHES_WORD else _parse_request(text, context)


def _enqueue_any(intake: RequestIntake, asker: SlackRequest, request: AnyRequest, audience: Audience) -> str:
    """Enqueue one of the requests."""
    match request:
        case DigestRequest():
            return _enqueue_digest(intake, asker, request, audience)
        case ContractRequest():
            return contract.enqueue_contract(intake, asker, request, audience)
        case BrokeRequest():
            return broke.enqueue_suspects(intake, asker, request, audience)
        case UsageRequest():
            return usage.enqueue_usage(intake, asker, request, audience)
        case SinceRequest() | DeprecationsRequest() | UpgradeRequest():
            return plans.enqueue_plan(intake, asker, request, audience)
    return touches.enqueue_touches(intake, asker, request, audience)


def _enqueue_digest(intake: RequestIntake, asker: SlackRequest, request: DigestRequest, audience: Audience) -> str:
    """Enqueue a digest for the channel or an overview. Nothing is said at once: most come within seconds."""
    is_over = request.span.last < intake.today(request.span.zone).date
    if is_over and len(request.span) == 1 and choose_audience(request, audience) is Audience.CHANNEL:
        # the asker is told only of a failure: the digest is for the channel
        intake.jobs.send(DIGEST_JOB, CommandPayload(asker, request, Audience.ASKER))
    else:
        enqueue_request(intake, OVERVIEW_JOB, asker, request, audience)
    return ""


def _describe_digest(request: DigestRequest) -> str:
    """Return what the bot is about to post."""
    where = "".join(f" ({part})" for part in (request.zone, str(request.view)) if part)
    return f"I'm preparing the digest of {request.span.title}{where}; it will appear here in about a minute."


def _describe_overview(request: DigestRequest) -> str:
    """Return what the bot is about to show."""
    narrowed = f", {request.view}" if str(request.view) else ""
    return f"Looking at {request.span.title}{narrowed}… Days I haven't processed yet take about a minute each."


def _answer_overview(services: CommandServices, request: DigestRequest, asker: SlackRequest) -> Answer:
    """Build the overview. Raises UsageError if the asker may not have it here."""
    services.subscriptions.permissions.require_presence(asker)
    known = replace(request, view=services.profiles.require_view(request.view, request.repository))
    return services.answers.build_overview(known, asker.name, asker.channel)


def _post_digest(services: CommandServices, request: DigestRequest, asker: SlackRequest) -> Answer | None:
    """Post the digest of a day. Return its address to the asker if it was already posted."""
    services.subscriptions.permissions.require_presence(asker)
    view = services.profiles.require_view(request.view, request.repository)
    spec = DigestSpec(asker.channel, request.repository, request.span, view)
    published = services.subscriptions.delivery.post_digest(spec)
    if not published.was_posted:
        return None
    repeat = make_repeat_button(SHARE_DIGEST, request)
    return Answer.for_asker(add_buttons(render_existing_digest(published.permalink), repeat))


COMMAND: Command[AnyRequest] = Command(
    name="/prdigest",
    description="Post the digest of a day, or subscribe to it",
    hint="[2026-02-28 | 7d | contract | touches | broke | since | upgrade | subscribe | list | usage | help]",
    usage=USAGE,
    trigger_words=("digest", "prdigest"),
    request_types=(
        DigestRequest,
        ContractRequest,
        TouchesRequest,
        TouchScoreRequest,
        BrokeRequest,
        UsageRequest,
        *plans.PLAN_REQUESTS,
    ),
    parse=_parse_any,
    enqueue=_enqueue_any,
    jobs=(
        CommandJob(DIGEST_JOB, answer_once("digest", _post_digest, _describe_digest)),
        CommandJob(OVERVIEW_JOB, answer_once("overview", _answer_overview, _describe_overview)),
        *contract.JOBS,
        *touches.JOBS,
        *broke.JOBS,
        *plans.JOBS,
        *usage.JOBS,
    ),
    examples=(
        HelpExample("digest 7d", "an overview of several days"),
        contract.EXAMPLE,
        touches.EXAMPLE,
        broke.EXAMPLE,
        plans.EXAMPLE,
        subscriptions.EXAMPLE,
        usage.EXAMPLE,
    ),
    share_action=SHARE_DIGEST,
    verbs={**subscriptions.VERBS, **previews.VERBS},
    keywords=("today", "yesterday", CONTRACT_WORD, TOUCHES_WORD, BROKE_WORD, USAGE_WORD, *plans.PLAN_WORDS),
)
