"""``/prdigest``: the digest of a day in this channel, once, or several days as one overview."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.domain.conversations.commands import LONGEST_OVERVIEW, DigestRequest, ParseContext
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.operations.lane import Lane
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.models import DigestSpec
from bot.domain.time.date_range import parse_exact_span
from bot.domain.time.day import parse_zone
from bot.render.blocks.buttons import SHARE_DIGEST
from bot.render.conversations.greetings import HelpExample
from bot.render.conversations.notices import render_existing_digest
from bot.services.jobs.command_jobs import CommandJob, CommandServices, answer_once, command_job_type
from bot.services.jobs.declaration import MINUTE, JobType, Retries
from bot.services.jobs.job_types import LONG, read_slack_request
from bot.services.jobs.payloads import CommandPayload
from bot.services.slack.replies import Answer
from handlers.commands import subscriptions
from handlers.commands.declaration import Command, audience_of, send_request
from handlers.intake import RequestIntake

USAGE = (
    "Get the digest here: `/prdigest` for yesterday's, `/prdigest 2026-02-28`; `today` so far, `7d` or "
    f"`2026-02-24..2026-02-28` as one overview (up to {LONGEST_OVERVIEW} days); `repo:owner/name` for another "
    "repository; `private` to keep an overview to yourself.\n" + subscriptions.USAGE
)


def _parse(text: str, context: ParseContext) -> DigestRequest:
    """Days begin where the channel's own digests begin them, unless the text names a zone."""
    own = context.zone()
    request = DigestRequest.parse(text, context.repositories, context.today(own), context.today)
    is_other = request.zone is None and request.span.zone != context.today().zone
    return replace(request, zone=request.span.zone) if is_other else request


def _read_old_day(
    _: ParseContext, visit: Mapping[str, str], repository: str, date: str, zone: str
) -> CommandPayload[DigestRequest]:
    request = DigestRequest(Repository.parse(repository), parse_exact_span(date, parse_zone(zone)))
    return CommandPayload(read_slack_request(visit), request, Audience.ASKER)


OVERVIEW = command_job_type("overview", DigestRequest, _parse, Lane.LONG, LONG)
# a digest is worth waiting hours for
DIGEST = JobType(
    "digest", CommandPayload[DigestRequest], _read_old_day, Lane.LONG, Retries(20, MINUTE // 2, 15 * MINUTE)
)


def _enqueue(intake: RequestIntake, asker: SlackRequest, request: DigestRequest, audience: Audience) -> str:
    is_over = request.span.last < intake.today(request.span.zone).date
    if is_over and len(request.span) == 1 and audience_of(request, audience) is Audience.CHANNEL:
        # who asked hears only what went wrong: the digest is for the channel
        intake.jobs.send(DIGEST, CommandPayload(asker, request, Audience.ASKER))
        where = f" ({request.zone})" if request.zone else ""
        return f"The digest of {request.span.title}{where} will be here in a minute, if it is not yet."
    send_request(intake, OVERVIEW, asker, request, audience)
    return f"Looking at {request.span.title}… Days that nobody asked for before take a minute each."


def _answer_overview(services: CommandServices, request: DigestRequest, asker: SlackRequest) -> Answer:
    services.scheduling.rights.require_presence(asker)
    return services.answers.build_overview(request, asker.name, asker.channel)


def _publish(services: CommandServices, request: DigestRequest, asker: SlackRequest) -> Answer | None:
    """Post the digest of a day; the asker is told where it stands if it was there already."""
    services.scheduling.rights.require_presence(asker)
    spec = DigestSpec(asker.channel, request.repository, request.span)
    published = services.scheduling.delivery.publish(spec)
    return Answer.for_asker(render_existing_digest(published.address)) if published.already else None


COMMAND = Command(
    name="/prdigest",
    description="Post the digest of a day, or get it regularly",
    hint="[2026-02-28 | 7d | subscribe | schedule | list | help]",
    usage=USAGE,
    words=("digest", "prdigest"),
    requests=(DigestRequest,),
    parse=_parse,
    enqueue=_enqueue,
    jobs=(
        CommandJob(DIGEST, answer_once("digest", _publish)),
        CommandJob(OVERVIEW, answer_once("overview", _answer_overview)),
    ),
    examples=(HelpExample("digest 7d", "several days as one overview"), subscriptions.EXAMPLE),
    share=SHARE_DIGEST,
    verbs=subscriptions.VERBS,
)
