"""Votes on answers, kept with the question and what its answer was made of, and printed by ``prdigest votes``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.app import App
from bot.features.questions.rules import Citation, RememberedMessage
from bot.platform.jobs import job
from bot.platform.slack.buttons import FeedbackVerdict
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.tables import Map, Table
from bot.usage import NO_USAGE, Usage

log = logging.getLogger(__name__)


class AnswerOutcome(StrEnum):
    """Who wrote an answer: the model, or a search for words, as the model could not be asked or failed."""

    WRITTEN = "written"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ToolExchange:
    tool: str
    arguments: dict[str, object]
    result: str


@dataclass(frozen=True, slots=True)
class NumberedCitation(Citation):
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerInputs:
    """Enough to ask a question again and to judge its answer. ``numbers`` and ``days`` are the thread's subject.

    ``reason`` is why the model did not write the answer. The fields from ``model`` on describe its work:
    ``citations`` of code and ``quoted`` remarks hold, ``failed_citations`` don't. ``note`` is what readers were
    told of its end.
    """

    question: str
    repository: str = ""
    days: str = ""
    numbers: tuple[int, ...] = ()
    thread: tuple[RememberedMessage, ...] = ()
    answer: str = ""
    outcome: AnswerOutcome = AnswerOutcome.WRITTEN
    reason: str = ""
    model: str = ""
    prompt: str = ""
    rounds: int = 0
    usage: Usage = NO_USAGE
    exchanges: tuple[ToolExchange, ...] = ()
    citations: tuple[NumberedCitation, ...] = ()
    quoted: tuple[NumberedCitation, ...] = ()
    failed_citations: tuple[Citation, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote(AnswerInputs):
    """What a user says about an answer, when (aware), and what the answer was made of."""

    verdict: FeedbackVerdict
    at: datetime
    user: str


INPUTS = Table(
    "answered:{channel}:{message}",
    AnswerInputs,
    "what an answer was made of, as long as it can be voted on",
    days=30,
    version=2,
)
# a later vote of the same person on the same answer takes the place of the earlier one
VOTES = Map("votes", Vote, "votes by channel, message and user", version=2)


@job("votes")
def record_vote(app: App, asker: SlackRequest, message: str, verdict: FeedbackVerdict) -> None:
    inputs = app.tables.get(INPUTS, asker.channel, message)
    if inputs is None:
        log.info("a vote on an answer that is no longer known [%s]", asker.reference)
        sentence = "That answer is too old to rate: ask again, then vote."
    else:
        made_of = {each.name: getattr(inputs, each.name) for each in fields(inputs)}
        vote = Vote(verdict=verdict, at=app.now(), user=asker.user, **made_of)
        app.tables.put_field(VOTES, f"{asker.channel}:{message}:{asker.user}", vote)
        sentence = "Thanks, saved for the people who run this bot."
        if verdict is FeedbackVerdict.BAD:
            sentence += " What was wrong? Reply here, and I answer again."
    app.replies.tell_asker(asker, sentence)


def iterate_votes(app: App) -> Iterator[Vote]:
    for _, vote in app.tables.iterate_fields(VOTES):
        if vote is None:
            log.warning("a vote can't be read and is left out")
        else:
            yield vote


def list_channels_of_votes(app: App, user: str) -> set[str]:
    names = (name.split(":") for name, _ in app.tables.iterate_fields(VOTES))
    return {name[0] for name in names if name[-1] == user}


def format_vote(vote: Vote) -> dict[str, Any]:
    values = {**asdict(vote), "at": vote.at.isoformat()}
    names = ["verdict", "at", "user", "question", "repository", "days", "numbers", "thread", "answer"]
    if vote.outcome is not AnswerOutcome.WRITTEN:
        return {name: values[name] for name in names} | {vote.outcome.value: vote.reason}
    names += ["model", "prompt", "rounds", "usage", "exchanges", "citations", "quoted", "failed_citations", "note"]
    return {name: values[name] for name in names}
