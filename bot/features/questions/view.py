"""What people read around an answer in a thread: labels of citations, the status, small print, buttons."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any, TypeGuard

from bot.app import App
from bot.features.merges.summary import MAX_CLAIM_LENGTH, Evidence, build_evidence_url
from bot.features.merges.view import Entry
from bot.features.noise.rules import UseKind
from bot.features.noise.service import note_use
from bot.features.questions.rules import AnswerEnd, Citation, RememberedMessage
from bot.platform.jobs import job
from bot.platform.markdown import sanitize_text
from bot.platform.models import ToolCall
from bot.platform.models.tools import ToolName
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.sources import Discussion, Remark, RemarkKind
from bot.platform.slack.blocks import (
    Block,
    FeedbackVerdict,
    Post,
    escape_mrkdwn,
    make_context,
    make_plain_text,
    write_verdict,
)
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.tables import Map, Table
from bot.redaction import redact_text
from bot.text import format_count
from bot.usage import NO_USAGE, Usage
from impact.source.models import DiffSide
from impact.text.strings import collapse_lines, truncate_text

VOTE = "answer_vote"
MODEL_NOTE = "Written by a model. Linked lines are checked against the code; the rest may be wrong."
GLOSSARY_NOTE = "From my glossary, without a model. For a name in the code, ask again and name its file."
_MAX_NAME_LENGTH = 60
_MAX_NOTES_LENGTH = 1_500
# why an answer ends where it does; nothing where the model had finished
ENDS = {
    AnswerEnd.COMPLETE: "",
    AnswerEnd.TRUNCATED: "The answer was truncated at the model's length limit: ask for a part of it.",
    AnswerEnd.TOO_LONG: "The answer was too long for a message: ask for a part of it.",
    AnswerEnd.LATE: "I stopped after four minutes. This is what I have so far.",
    AnswerEnd.STOPPED: "Stopped, as you asked.",
    AnswerEnd.BROKEN: "The answer is incomplete ({failure}). This is what I have so far.",
}


def label_citation(pull: PullRequest, evidence: Evidence) -> tuple[str, str]:
    name = truncate_text(collapse_lines(PurePosixPath(evidence.path).name), _MAX_NAME_LENGTH)
    removed = " (removed)" if evidence.side is DiffSide.OLD else ""
    kind = removed if evidence.is_change else " (unchanged)"
    return f"{name}:{evidence.line}{kind}", build_evidence_url(pull, evidence)


def label_remark(discussion: Discussion, remark: Remark) -> tuple[str, str]:
    if remark.kind is RemarkKind.ISSUE:
        place = f"issue {remark.anchor.removeprefix('issue-')}"
    elif remark.kind is RemarkKind.COMMENT:
        place = "a comment"
    else:
        place = "a thread" if remark.kind in (RemarkKind.RESOLVED, RemarkKind.OPEN) else "a review"
    return f"{remark.author.login} in {place}", discussion.build_remark_url(remark)


# what is read, before the argument that says which; no card says more than its call
_CARDS = {
    ToolName.LIST_PULL_REQUESTS: ("List of pull requests", "days"),
    ToolName.SEARCH: ("Search for", "any_of"),
    ToolName.PULL_REQUEST: ("Facts about", "number"),
    ToolName.READ_DIFF: ("Diff of", "number"),
    ToolName.TAKEN_BACK: ("Reverts and risks", "days"),
    ToolName.READ_FILE: ("File", "path"),
    ToolName.FIND_USES: ("Uses of", "name"),
    ToolName.READ_DISCUSSION: ("Discussion of", "number"),
    ToolName.FIND_PROFILE_USES: ("Your code's uses of", "name"),
    ToolName.LIST_CHANGES: ("Changes of", "path"),
    ToolName.FIND_REQUIREMENTS: ("Requirements on", "package"),
    ToolName.SEARCH_PACKAGE: ("Uses in the package", "package"),
    ToolName.READ_PACKAGE: ("The package", "package"),
    ToolName.WHERE_IS: ("Tags that hold", "number"),
}


def name_call(call: ToolCall) -> str:
    """Return what a tool reads, as the title of its card. The arguments are a model's, so of anybody's words."""
    words, argument = _CARDS.get(call.name, ("An unknown tool", ""))  # type: ignore[call-overload]
    value = call.arguments.get(argument, "")
    subject = f"#{value}" if argument == "number" else ", ".join(value) if is_texts(value) else value
    named = truncate_text(collapse_lines(redact_text(f"{subject}")), _MAX_NAME_LENGTH)
    return sanitize_text(f"{words} {named}".strip(), in_code=True)


def is_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def render_footer(
    note: str, read: str, not_seen: str, failed: int, *, is_unproven: bool = False, author: str = ""
) -> list[Block]:
    """Render the small print, if there is any, and the feedback buttons under an answer.

    ``note`` says why the answer ends where it does, ``read`` and ``not_seen`` what it is based on. ``failed``
    counts the quotes that are not in the code; ``is_unproven`` is set if it is about code without a valid quote.
    ``author`` is a sentence on who wrote it.
    """
    quotes = format_count(failed, "quote was", "quotes were")
    parts = [
        note,
        read and f"Sources: {read}.",
        not_seen and f"Not read: {not_seen}.",
        f"{quotes} not found in the code and not linked." if failed else "",
        "Not verified against the code." if is_unproven else "",
        author,
    ]
    notes = make_context(truncate_text(" ".join(filter(None, parts)), _MAX_NOTES_LENGTH))
    # a note of signs that nobody sees is none
    return [*([notes] if notes["elements"][0]["text"] else []), make_feedback_buttons()]


def make_feedback_buttons() -> Block:
    good, bad = write_verdict(FeedbackVerdict.GOOD), write_verdict(FeedbackVerdict.BAD)
    buttons = {
        "type": "feedback_buttons",
        "action_id": VOTE,
        "positive_button": {"text": make_plain_text("Good answer", 75), "value": good},
        "negative_button": {"text": make_plain_text("Bad answer", 75), "value": bad},
    }
    return {"type": "context_actions", "elements": [buttons]}


def render_private_answer(text: str, blocks: Sequence[Mapping[str, Any]]) -> Post:
    summary = escape_mrkdwn(truncate_text(collapse_lines(text), 200))
    return Post(summary, ({"type": "markdown", "text": text}, *blocks))


def format_search_answer(reason: str, title: str, entries: Sequence[Entry], gaps: str = "") -> str:
    """Format what a plain search found in the days of ``title``; ``reason`` is a sentence on why it is one.

    ``gaps`` is what could not be read.
    """
    lead = f"**Without the model.** {sanitize_text(truncate_text(collapse_lines(reason), 300))}"
    if gaps:
        follows = "there may be more" if entries else "I can't tell"
        lead += f" I couldn't read {sanitize_text(truncate_text(collapse_lines(gaps), 300))}, so {follows}."
    if gaps and not entries:
        return lead
    if not entries:
        return f"{lead} A text search found none of your words in the pull requests of {title}."
    lines = [f"{lead} Text search for your words in the pull requests of {title}:"]
    for entry in entries:
        text = truncate_text(collapse_lines(entry.pull.title), 80)
        if not entry.summary.is_fallback:
            text += f": {truncate_text(collapse_lines(entry.summary.headline), MAX_CLAIM_LENGTH)}"
        lines.append(f"- [#{entry.number}]({entry.pull.url}) {sanitize_text(text)}")
    return "\n".join(lines)


# --- votes

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
        note_use(app, asker, UseKind.MARKED, "")
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
