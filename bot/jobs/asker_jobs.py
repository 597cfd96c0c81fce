"""Jobs for people who wrote to the bot or pressed a button, other than commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from bot.app import App
from bot.domain.conversations.slack_request import Audience
from bot.domain.errors import UsageError
from bot.domain.pull_requests.reference import Reference
from bot.jobs.job_runner import JobHandler
from bot.render.blocks.button_values import FeedbackVerdict
from bot.render.conversations.greetings import HelpExample, render_greeting
from bot.render.conversations.notices import render_notice
from bot.render.conversations.sentences import ANSWER_TOO_OLD, BAD_VOTE_RECORDED, GOOD_VOTE_RECORDED
from bot.render.digest.touch_sentences import format_noted
from bot.services.jobs.job_types import (
    ANSWER_QUESTIONS,
    EXPLAIN_ASKING,
    OPEN_REFERENCE_FORM,
    POST_PUBLIC_NOTICE,
    RECORD_HIT_VOTE,
    RECORD_VOTE,
    SEND_GREETING,
    SEND_PRIVATE_NOTICE,
    SHOW_AGENT_TASK,
    SHOW_DETAILS,
)
from bot.services.jobs.payloads import (
    AgentTaskPayload,
    AskerPayload,
    DetailsPayload,
    GreetingPayload,
    HitVotePayload,
    NoticePayload,
    ThreadPayload,
    VotePayload,
)
from bot.services.slack.answers.answer import Answer


def list_jobs(examples: Sequence[HelpExample]) -> Iterable[JobHandler[Any]]:
    """List the jobs with their handlers. ``examples`` of the commands are part of the help."""
    return (
        JobHandler(SHOW_DETAILS, show_details),
        JobHandler(SEND_PRIVATE_NOTICE, send_private_notice),
        JobHandler(POST_PUBLIC_NOTICE, post_public_notice),
        JobHandler(SEND_GREETING, partial(send_greeting, examples)),
        JobHandler(EXPLAIN_ASKING, explain_asking),
        JobHandler(OPEN_REFERENCE_FORM, open_reference_form),
        JobHandler(RECORD_VOTE, record_vote),
        JobHandler(RECORD_HIT_VOTE, record_hit_vote),
        JobHandler(SHOW_AGENT_TASK, show_agent_task),
        JobHandler(ANSWER_QUESTIONS, serve_questions),
    )


def show_details(app: App, payload: DetailsPayload) -> None:
    """Open a window about a pull request."""
    link = payload.reference
    reference = Reference(app.repositories.require_known(link.repository), link.number)
    app.details.open_modal(payload.asker, payload.asker.trigger, reference)


def send_private_notice(app: App, payload: NoticePayload) -> None:
    """Send a notice to the asker alone."""
    app.replies.tell_asker(payload.asker, payload.sentence)


def post_public_notice(app: App, payload: NoticePayload) -> None:
    """Post a notice for everybody in the thread."""
    answer = Answer.for_asker(render_notice(payload.sentence))
    app.replies.give_answer(payload.asker, "say", Audience.CHANNEL, lambda: answer)


def send_greeting(examples: Sequence[HelpExample], app: App, payload: GreetingPayload) -> None:
    """Send a greeting with help. A user of the direct messages gets it once, also without a message."""
    asker = payload.asker
    answer = Answer.for_asker(render_greeting(payload.why, app.repositories.default, examples))
    if asker.message or not asker.is_direct:
        app.replies.give_answer(asker, "greeting", Audience.HERE, lambda: answer)
    elif app.subscription_editor.is_welcome(asker):
        app.replies.give_answer(asker, "greeting", Audience.CHANNEL, lambda: answer)
        app.welcomes.note_welcome(asker.user)


def explain_asking(app: App, payload: AskerPayload) -> None:
    """Tell the asker how to ask about the message whose button they pressed, with its address."""
    app.replies.explain_asking(payload.asker)


def open_reference_form(app: App, payload: AskerPayload) -> None:
    """Open the form that asks for a pull request."""
    app.reference_form.open_form(payload.asker)


def record_vote(app: App, payload: VotePayload) -> None:
    """Record the asker's vote on an answer."""
    is_known = app.answer_votes.record_vote(payload.asker, payload.message, payload.verdict)
    thanks = BAD_VOTE_RECORDED if payload.verdict is FeedbackVerdict.BAD else GOOD_VOTE_RECORDED
    app.replies.tell_asker(payload.asker, thanks if is_known else ANSWER_TOO_OLD)


def record_hit_vote(app: App, payload: HitVotePayload) -> None:
    """Record what the asker said about a hit, and show it in the digests and the answer that have the hit."""
    votes, vote = app.hit_votes, payload.vote
    try:
        votes.record_vote(vote, payload.asker.user, payload.at)
    except UsageError as error:
        app.replies.tell_asker(payload.asker, str(error))
        return
    votes.show_vote(vote)
    app.vote_marks.show_vote(payload.asker, vote, payload.blocks_json)
    app.replies.tell_asker(payload.asker, format_noted(vote.verdict))


def show_agent_task(app: App, payload: AgentTaskPayload) -> None:
    """Open a window with the task of a hit."""
    app.task_modal.open_modal(payload.asker, payload.profile, payload.reference)


def serve_questions(app: App, payload: ThreadPayload) -> None:
    """Answer the questions that wait in a thread."""
    app.conversations.serve_thread(payload.place)
