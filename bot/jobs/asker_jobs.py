"""Jobs for somebody who wrote to the bot or pressed a button, other than commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from bot.container import Wiring
from bot.domain.conversations.slack_request import Audience
from bot.domain.pull_requests.reference import Reference
from bot.jobs.performer import Job
from bot.render.conversations.greetings import HelpExample, greeting
from bot.render.conversations.notices import render_notice
from bot.services.jobs.job_types import DETAILS, GREET, QUESTIONS, SAY, TELL, VOTES
from bot.services.jobs.payloads import (
    DetailsPayload,
    GreetingPayload,
    PlacePayload,
    SentencePayload,
    VotePayload,
)
from bot.services.slack.replies import Answer

_THANKS = "Noted, thank you: it is kept with the question and what the answer was made of."
_FORGOTTEN = "That answer is too old for me to know what it was made of: ask again, then vote."


def list_jobs(examples: Sequence[HelpExample]) -> Iterable[Job[Any]]:
    """Return them; ``examples`` of the commands are part of the help."""
    return (
        Job(DETAILS, show_details),
        Job(TELL, tell),
        Job(SAY, say),
        Job(GREET, partial(greet, examples)),
        Job(VOTES, vote),
        Job(QUESTIONS, serve_questions),
    )


def show_details(wiring: Wiring, payload: DetailsPayload) -> None:
    """Open a window about a pull request."""
    named = payload.reference
    reference = Reference(wiring.repositories.known(named.repository), named.number)
    wiring.details.open_modal(payload.asker, payload.asker.trigger, reference)


def tell(wiring: Wiring, payload: SentencePayload) -> None:
    """Tell the asker alone."""
    wiring.replies.tell(payload.asker, payload.sentence)


def say(wiring: Wiring, payload: SentencePayload) -> None:
    """Say something for everybody in the thread to read."""
    answer = Answer.for_asker(render_notice(payload.sentence))
    wiring.replies.give(payload.asker, "say", Audience.CHANNEL, lambda: answer)


def greet(examples: Sequence[HelpExample], wiring: Wiring, payload: GreetingPayload) -> None:
    """Say what the bot does. Who comes to its direct messages is welcomed once, and need not have written."""
    asker = payload.asker
    answer = Answer.for_asker(greeting(payload.why, wiring.repositories.default, examples))
    if asker.message or not asker.is_direct:
        wiring.replies.give(asker, "greeting", Audience.HERE, lambda: answer)
    elif wiring.scheduling.subscribing.welcomes(asker):
        wiring.replies.give(asker, "greeting", Audience.CHANNEL, lambda: answer)
        wiring.talking.welcomes.note_welcome(asker.user)


def vote(wiring: Wiring, payload: VotePayload) -> None:
    """Keep what the asker thinks of an answer."""
    is_known = wiring.talking.votes.vote(payload.asker, payload.message, payload.verdict)
    wiring.replies.tell(payload.asker, _THANKS if is_known else _FORGOTTEN)


def serve_questions(wiring: Wiring, payload: PlacePayload) -> None:
    """Answer the questions that wait in a thread."""
    wiring.talking.conversations.serve(payload.place)
