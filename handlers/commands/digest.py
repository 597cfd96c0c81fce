"""``/prdigest``: the digest of a day in this channel, or several days as one overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.app import App
from bot.domain.conversations.commands import MAX_DIGEST_DAYS, DigestRequest, ParseContext
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.operations.lane import QueueName
from bot.domain.subscriptions.models import DigestSpec
from bot.jobs.command_jobs import CommandJob, CommandPayload, answer_once
from bot.platform.jobs import LONG_RETRIES, MINUTE, JobRetries, JobType
from bot.render.blocks.buttons import SHARE_DIGEST, add_buttons, make_repeat_button
from bot.render.conversations.greetings import HelpExample
from bot.render.conversations.notices import render_existing_digest
from bot.services.slack.answers.answer import Answer
from handlers.commands.declaration import HELP_WORD, Command, choose_audience, enqueue_request
from handlers.commands.sub_commands import RequestChoice, RequestWord, SubCommand
from handlers.intake import RequestIntake

_USAGE = (
    "*Get a digest*: `/prdigest` for yesterday, or `/prdigest 2026-02-28` for another day. `today`, `7d` or "
    f"`2026-02-24..2026-02-28` (up to {MAX_DIGEST_DAYS} days) give one overview. Add `repo:owner/name` for "
    "another repository or `tz:Asia/Tokyo` for another time zone. `path:…`, `author:…`, `label:…` or "
    "`only:risky` show a part of it; `profile:NAME` begins with what touches your own code, `only:touching` shows "
    "nothing else. `private` keeps an overview to yourself."
)
_EXAMPLE = HelpExample("digest 7d", "an overview of several days")


def _parse_request(text: str, context: ParseContext) -> DigestRequest:
    """Parse the text. Days begin where those of the channel's own digests do, unless the text names a zone."""
    own = context.zone()
    request = DigestRequest.parse(text, context.repositories, context.today(own), context.today)
    is_other = request.zone is None and request.span.zone != context.today().zone
    return replace(request, zone=request.span.zone) if is_other else request


OVERVIEW_JOB = JobType("overview", CommandPayload[DigestRequest], QueueName.LONG, LONG_RETRIES)
# a digest is worth retries over hours
DIGEST_JOB = JobType(
    "digest", CommandPayload[DigestRequest], QueueName.LONG, JobRetries(20, MINUTE // 2, 15 * MINUTE)
)


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


def _answer_overview(app: App, request: DigestRequest, asker: SlackRequest) -> Answer:
    """Build the overview. Raises UsageError if the asker may not have it here."""
    app.permissions.require_presence(asker)
    known = replace(request, view=app.profiles.require_view(request.view, request.repository))
    return app.answers.build_overview(known, asker.name, asker.channel)


def _post_digest(app: App, request: DigestRequest, asker: SlackRequest) -> Answer | None:
    """Post the digest of a day. Return its address to the asker if it was already posted."""
    app.permissions.require_presence(asker)
    view = app.profiles.require_view(request.view, request.repository)
    spec = DigestSpec(asker.channel, request.repository, request.span, view)
    published = app.delivery.post_digest(spec)
    if not published.was_posted:
        return None
    repeat = make_repeat_button(SHARE_DIGEST, request)
    return Answer.for_asker(add_buttons(render_existing_digest(published.permalink), repeat))


_DIGEST = RequestWord(
    "digest",
    (DigestRequest,),
    parse=_parse_request,
    enqueue=_enqueue_digest,
    jobs=(
        CommandJob(DIGEST_JOB, answer_once("digest", _post_digest, _describe_digest)),
        CommandJob(OVERVIEW_JOB, answer_once("overview", _answer_overview, _describe_overview)),
    ),
)


def make_command(sub_commands: Sequence[SubCommand]) -> Command[Any]:
    """Return the command with all that its sub-commands declare, in their order."""
    requests = RequestChoice(_DIGEST, tuple(request for each in sub_commands for request in each.requests))
    return Command(
        name="/prdigest",
        description="Post the digest of a day, or subscribe to it",
        hint=_format_hint(sub_commands),
        usage="\n".join([_USAGE, *(each.usage for each in sub_commands)]),
        trigger_words=("digest", "prdigest"),
        request_types=requests.request_types,
        parse=requests.parse_text,
        enqueue=requests.enqueue_request,
        jobs=requests.jobs,
        examples=(_EXAMPLE, *(example for each in sub_commands for example in each.examples)),
        share_action=SHARE_DIGEST,
        verbs={verb: handle for each in sub_commands for verb, handle in each.verbs.items()},
        keywords=("today", "yesterday", *requests.keywords),
    )


def _format_hint(sub_commands: Sequence[SubCommand]) -> str:
    """Return what Slack shows while somebody types the command."""
    words = [word for each in sub_commands for word in each.hint_words]
    return f"[{' | '.join(['2026-02-28', '7d', *words, HELP_WORD])}]"
