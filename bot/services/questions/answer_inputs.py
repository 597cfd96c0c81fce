"""What an answer was made of, and the votes on it: kept as JSON, and printed for people by ``prdigest votes``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.domain.conversations.thread import RememberedMessage
from bot.domain.operations.usage import NO_USAGE, Usage
from bot.domain.summaries.citations import Citation
from bot.ports.codecs.versioned_json import VersionedJson
from bot.render.blocks.button_values import FeedbackVerdict


class AnswerOutcome(StrEnum):
    """Who wrote an answer."""

    WRITTEN = "written"
    """The model did."""
    REFUSED = "refused"
    """A search for words did, since the model could not be asked."""
    FAILED = "failed"
    """A search for words did, since the model gave no answer."""


@dataclass(frozen=True, slots=True)
class ToolExchange:
    """A tool call of the model, and its result."""

    tool: str
    arguments: dict[str, object]
    result: str


@dataclass(frozen=True, slots=True)
class NumberedCitation(Citation):
    """A citation that holds, with the number of the pull request that it is from."""

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

    @classmethod
    def build(cls, verdict: FeedbackVerdict, at: datetime, user: str, inputs: AnswerInputs) -> Vote:
        """Build a vote on the answer that was made of ``inputs``."""
        made_of = {name: getattr(inputs, name) for name in _INPUT_NAMES}
        return cls(verdict=verdict, at=at, user=user, **made_of)


_INPUT_NAMES = tuple(each.name for each in fields(AnswerInputs))
_VOTE_NAMES = tuple(each.name for each in fields(Vote) if each.name not in _INPUT_NAMES)
# where the fields about the model's work begin
_MODEL_NAMES = frozenset(_INPUT_NAMES[_INPUT_NAMES.index("model") :])


ANSWER_INPUTS_JSON = VersionedJson(AnswerInputs, 2)
VOTE_JSON = VersionedJson(Vote, 2)


def format_vote(vote: Vote) -> dict[str, Any]:
    """Return what people read of a vote: the work of the model, or in its place the reason why there is none."""
    values = {**asdict(vote), "at": vote.at.isoformat()}
    question = [name for name in _INPUT_NAMES if name not in _MODEL_NAMES | {"outcome", "reason"}]
    line = {name: values[name] for name in (*_VOTE_NAMES, *question)}
    if vote.outcome is AnswerOutcome.WRITTEN:
        return line | {name: values[name] for name in _INPUT_NAMES if name in _MODEL_NAMES}
    return line | {vote.outcome.value: vote.reason}
