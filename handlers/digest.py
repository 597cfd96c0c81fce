"""``/prdigest``: the digest of a day in this channel, or several days as one overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.app import App
from bot.features.digest.rules import DigestSpec
from bot.features.digest.service import answer_overview
from bot.features.merges.requests import MAX_DIGEST_DAYS, DigestRequest
from bot.features.subscriptions.schedule import post_digest
from bot.features.subscriptions.tables import require_presence
from bot.platform.commands import ParseContext
from bot.platform.jobs import MINUTE, JobRetries, QueueName, job
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import SHARE_DIGEST, add_buttons, make_repeat_button
from bot.platform.slack.notices import render_existing_digest
from bot.platform.slack.requests import Audience, SlackRequest
from handlers.declaration import HELP_WORD, Command, RequestWord, SubCommand, choose_audience


def _parse_request(text: str, context: ParseContext) -> DigestRequest:
    """Parse the text. Days begin where those of the channel's own digests do, unless the text names a zone."""
    request = DigestRequest.parse(text, context.repositories, context.today(context.zone()), context.today)
    is_other = request.zone is None and request.span.zone != context.today().zone
    return replace(request, zone=request.span.zone) if is_other else request


def _enqueue_digest(app: App, asker: SlackRequest, request: DigestRequest, audience: Audience) -> None:
    audience = choose_audience(request, audience)
    is_over = request.span.last < app.get_today(request.span.zone).date
    if is_over and len(request.span) == 1 and audience is Audience.CHANNEL:
        answer_digest.send_to(app.jobs, asker, request)
    else:
        answer_overview.send_to(app.jobs, asker, request, audience)


# a digest is worth retries over hours. It is for the channel: the asker is told only why there is none
@job("digest", QueueName.LONG, JobRetries(20, MINUTE // 2, 15 * MINUTE))
def answer_digest(app: App, asker: SlackRequest, request: DigestRequest) -> None:
    def post() -> Answer | None:
        known = request.require_known(app.repositories)
        require_presence(app, asker)
        view = app.profiles.require_view(known.view, known.repository)
        published = post_digest(app, DigestSpec(asker.channel, known.repository, known.span, view))
        if not published.was_posted:
            return None
        repeat = make_repeat_button(SHARE_DIGEST, known)
        return Answer.for_asker(add_buttons(render_existing_digest(published.record.permalink), repeat))

    where = "".join(f" ({part})" for part in (request.zone, str(request.view)) if part)
    doing = f"I'm preparing the digest of {request.span.title}{where}; it will appear here in about a minute."
    app.replies.give_answer(asker, "digest", Audience.ASKER, post, doing)


def make_command(sub_commands: Sequence[SubCommand]) -> Command:
    """Return the command with all that its sub-commands declare, in their order."""
    words = ["2026-02-28", "7d", *(word for each in sub_commands for word in each.hint_words), HELP_WORD]
    return Command(
        name="/prdigest",
        description="Post the digest of a day, or subscribe to it",
        # what Slack shows while somebody types the command
        hint=f"[{' | '.join(words)}]",
        trigger_words=("digest", "prdigest"),
        requests=(
            RequestWord(
                "the digest of a day in this channel, or one overview of several days",
                "[DAY | DAYS] [path:… author:… label:… not-author:…] [only:breaking | only:risky] "
                "[profile:NAME] [repo:owner/name] [tz:Asia/Tokyo] [private]",
                ("2026-02-28", "7d path:vllm/v1"),
                f"Without a day: yesterday. An overview has up to {MAX_DIGEST_DAYS} days, such as `today`, `7d` "
                "or `2026-02-24..2026-02-28`. `profile:NAME` begins with what touches your own code, "
                "`only:touching` shows nothing else. `private` keeps an overview to yourself.",
                word="digest",
                request_types=(DigestRequest,),
                parse=_parse_request,
                enqueue=_enqueue_digest,
            ),
            *(request for each in sub_commands for request in each.requests),
        ),
        share_action=SHARE_DIGEST,
        verbs={word: verb for each in sub_commands for word, verb in each.verbs.items()},
        keywords=("today", "yesterday"),
    )
