"""``/prsummary 35617``: the summary of one pull request, or of a few."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from bot.app import App
from bot.domain.conversations.commands import MAX_PULL_REQUESTS, ParseContext, SummaryRequest
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import RateLimited
from bot.domain.pull_requests.query_options import PRIVATE_WORD
from bot.domain.pull_requests.reference import Reference
from bot.jobs.command_jobs import CommandJob, CommandPayload
from bot.platform import deadlines
from bot.platform.jobs import JobType
from bot.platform.slack.answers import Answer
from bot.render.blocks.buttons import SHARE_SUMMARY
from bot.render.conversations.greetings import HelpExample
from bot.services.operations.worker_threads import DeadlineExecutor, wait_for_result
from handlers.declaration import Command, enqueue_request

USAGE = (
    "*Summarize pull requests*: `/prsummary 35617`, `#35617`, `owner/repo#35617` or a web address, up to "
    f"{MAX_PULL_REQUESTS} at a time. Everybody here sees the answer; add `private` to keep it to yourself."
)
# of the five messages that a response_url takes, these are for summaries; others say that it takes longer, or why
_MAX_PRIVATE_POSTS = 2
_REFERENCE_PATTERN = re.compile(r"(?:[\w.-]+/[\w.-]+)?#?\d{1,9}|https?://\S+/pull/\d+\S*")


def is_only_references(text: str) -> bool:
    """Return whether a text consists of pull requests alone, such as ``#35617, 35618 private``."""
    words = [word for word in re.split(r"[\s,]+", text) if word and word.lower() != PRIVATE_WORD]
    return bool(words) and all(map(_REFERENCE_PATTERN.fullmatch, words))


def _parse_request(text: str, context: ParseContext) -> SummaryRequest:
    """Parse the pull requests that the text names."""
    return SummaryRequest.parse(text, context.repositories)


SUMMARY_JOB = JobType("summary", CommandPayload[SummaryRequest])


def _enqueue_summary(app: App, asker: SlackRequest, request: SummaryRequest, audience: Audience) -> str:
    """Enqueue the summaries. Nothing is said at once: most answers come within seconds."""
    enqueue_request(app, SUMMARY_JOB, asker, request, audience)
    return ""


def _describe_summaries(request: SummaryRequest) -> str:
    """Return what the bot is about to read."""
    return f"Looking at {', '.join(f'#{reference.number}' for reference in request.references)}…"


def _answer_each(app: App, payload: CommandPayload[SummaryRequest]) -> None:
    """Build all summaries at once, and give them in the order of the request."""
    asker = app.directory.choose_conversation(payload.asker)
    references = payload.request.require_known(app.repositories).references
    with deadlines.reserve_time(app.replies.response_times.reply_reserve):
        executor = DeadlineExecutor(len(references), "summary")
        summaries = {
            reference: executor.submit(app.answers.build_summary, reference, asker.name)
            for reference in references
        }
    if len(references) > 1 and asker.response_url:
        if payload.audience is Audience.ASKER or not app.directory.can_post(asker):
            _answer_together(app, asker, payload.request, summaries.values())
            return
        # who asks about a message is reached in its thread
        asker = replace(asker, response_url="") if asker.message else asker
    _answer_apart(app, asker, payload, summaries)


def _answer_together(
    app: App, asker: SlackRequest, request: SummaryRequest, summaries: Iterable[Future[Answer]]
) -> None:
    """Give the asker alone all summaries in few messages: a ``response_url`` takes five in all."""

    def make() -> Answer:
        answers = [app.replies.make_or_explain(asker, partial(wait_for_result, each)) for each in summaries]
        return Answer.merge(answers, _MAX_PRIVATE_POSTS)

    app.replies.give_answer(asker, "together", Audience.ASKER, make, _describe_summaries(request))


def _answer_apart(
    app: App,
    asker: SlackRequest,
    payload: CommandPayload[SummaryRequest],
    summaries: Mapping[Reference, Future[Answer]],
) -> None:
    """Post each summary as a message of its own. Raises RateLimited if one of them has to wait."""
    rate_limit: RateLimited | None = None
    for reference, answer in summaries.items():
        try:
            make, started = partial(wait_for_result, answer), _describe_summaries(payload.request)
            app.replies.give_answer(asker, str(reference), payload.audience, make, started)
        except RateLimited as error:
            # the others need not wait for the end of the limit
            rate_limit = error
    if rate_limit:
        raise rate_limit


COMMAND = Command(
    name="/prsummary",
    description="Summarize pull requests",
    hint="35617 | owner/repo#35617 | private | help",
    usage=USAGE,
    trigger_words=("summary", "prsummary"),
    request_types=(SummaryRequest,),
    parse=_parse_request,
    enqueue=_enqueue_summary,
    jobs=(CommandJob(SUMMARY_JOB, _answer_each),),
    examples=(
        HelpExample(
            "35617", "a summary of that pull request; several numbers work too", "a summary of that pull request"
        ),
    ),
    share_action=SHARE_SUMMARY,
    needs_text=True,
    is_bare_form=is_only_references,
)
