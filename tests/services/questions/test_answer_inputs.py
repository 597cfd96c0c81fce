"""Answers and votes as they are stored, and the lines that people read of them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.domain.conversations.thread import RememberedMessage
from bot.domain.errors import StoreUnavailable
from bot.domain.operations.usage import Usage
from bot.domain.summaries.citations import Citation
from bot.render.blocks.button_values import FeedbackVerdict
from bot.services.questions.answer_inputs import (
    ANSWER_INPUTS_JSON,
    VOTE_JSON,
    AnswerInputs,
    AnswerOutcome,
    NumberedCitation,
    ToolExchange,
    Vote,
    format_vote,
)
from bot.services.questions.answer_writer import ANSWER_DRAFT_JSON, AnswerDraft

_QUESTION = {
    "question": "Größe?",
    "repository": "octo/engine",
    "days": "2026-02-28",
    "numbers": [7],
    "thread": [{"by": "person", "text": "Who?", "is_short": False}],
    "answer": "`x`",
}
_USAGE = {"input": 3, "output": 2, "cache_read": 0, "cache_write": 0, "cache_write_hour": 0}
_CITATION = {"pull": "#7", "path": "a.py", "quote": "x = 1", "line": 3, "is_removed": False}
_WORK = {
    "model": "claude",
    "prompt": "answer.v1",
    "rounds": 2,
    "usage": _USAGE,
    "exchanges": [{"tool": "search", "arguments": {"any_of": ["x"]}, "result": "#7"}],
    "citations": [{**_CITATION, "number": 7}],
    "quoted": [],
    "failed_citations": [_CITATION],
    "note": "cut",
}
ASKED = AnswerInputs(
    question="Größe?",
    repository="octo/engine",
    days="2026-02-28",
    numbers=(7,),
    thread=(RememberedMessage("person", "Who?"),),
    answer="`x`",
)
WRITTEN = replace(
    ASKED,
    model="claude",
    prompt="answer.v1",
    rounds=2,
    usage=Usage(input=3, output=2),
    exchanges=(ToolExchange("search", {"any_of": ["x"]}, "#7"),),
    citations=(NumberedCitation("#7", "a.py", "x = 1", 3, number=7),),
    failed_citations=(Citation("#7", "a.py", "x = 1", 3),),
    note="cut",
)
# the lines that people read, and what they are of
LINES: dict[str, tuple[dict[str, Any], AnswerInputs]] = {
    "written": (_QUESTION | _WORK, WRITTEN),
    "refused": (
        _QUESTION | {"refused": "No model."},
        replace(ASKED, outcome=AnswerOutcome.REFUSED, reason="No model."),
    ),
    "failed": (_QUESTION | {"failed": "late"}, replace(ASKED, outcome=AnswerOutcome.FAILED, reason="late")),
}
AT = datetime(2026, 2, 28, 20, tzinfo=UTC)
_CAST = {"verdict": "good", "at": "2026-02-28T20:00:00+00:00", "user": "U0ADA"}


@pytest.mark.parametrize("inputs", [inputs for _, inputs in LINES.values()], ids=LINES)
def test_what_is_stored_is_read(inputs: AnswerInputs) -> None:
    assert ANSWER_INPUTS_JSON.load_or_none(ANSWER_INPUTS_JSON.dump_text(inputs)) == inputs
    draft = AnswerDraft("`x`", "x", [{"type": "context", "elements": []}], inputs)
    assert ANSWER_DRAFT_JSON.load_text(ANSWER_DRAFT_JSON.dump_text(draft)) == draft


@pytest.mark.parametrize(("fields", "inputs"), LINES.values(), ids=LINES)
def test_a_vote_is_printed_as_a_line(fields: dict[str, Any], inputs: AnswerInputs) -> None:
    text = VOTE_JSON.dump_text(Vote.build(FeedbackVerdict.GOOD, AT, "U0ADA", inputs))
    assert json.loads(text)["version"] == 2
    vote = VOTE_JSON.load_or_none(text)
    assert vote
    assert json.dumps(format_vote(vote)) == json.dumps({**_CAST, **fields})


def test_the_time_of_a_vote_is_printed_in_the_zone_of_its_process() -> None:
    at = datetime.fromisoformat("2026-03-01T09:00:13.791469-08:00")
    vote = VOTE_JSON.load_or_none(VOTE_JSON.dump_text(Vote.build(FeedbackVerdict.GOOD, at, "U0ADA", WRITTEN)))
    assert vote
    assert format_vote(vote)["at"] == "2026-03-01T09:00:13.791469-08:00"


@pytest.mark.parametrize("codec", [ANSWER_INPUTS_JSON, VOTE_JSON], ids=["inputs", "vote"])
def test_what_a_later_version_stored_is_not_taken_for_absent(codec: Any) -> None:
    with pytest.raises(StoreUnavailable):
        codec.load_or_none(json.dumps({"version": 3, **_CAST, **_QUESTION}))
