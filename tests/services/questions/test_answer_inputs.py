"""Answers and votes that the version before stored without a mark, and the lines that people read of them."""

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
# as the version before stored them, and what they are
UNMARKED: dict[str, tuple[dict[str, Any], AnswerInputs]] = {
    "written": (_QUESTION | _WORK, WRITTEN),
    "refused": (
        _QUESTION | {"refused": "No model."},
        replace(ASKED, outcome=AnswerOutcome.REFUSED, reason="No model."),
    ),
    "failed": (_QUESTION | {"failed": "late"}, replace(ASKED, outcome=AnswerOutcome.FAILED, reason="late")),
}
AT = datetime(2026, 2, 28, 20, tzinfo=UTC)
_CAST = {"verdict": "good", "at": "2026-02-28T20:00:00+00:00", "user": "U0ADA"}


@pytest.mark.parametrize(("fields", "inputs"), UNMARKED.values(), ids=UNMARKED)
def test_inputs_of_version_1_are_read(fields: dict[str, Any], inputs: AnswerInputs) -> None:
    assert ANSWER_INPUTS_JSON.load_or_none(json.dumps(fields)) == inputs
    assert ANSWER_INPUTS_JSON.load_or_none(ANSWER_INPUTS_JSON.dump_text(inputs)) == inputs


@pytest.mark.parametrize(("fields", "inputs"), UNMARKED.values(), ids=UNMARKED)
def test_a_vote_of_version_1_is_read_and_its_line_stays_as_it_was(
    fields: dict[str, Any], inputs: AnswerInputs
) -> None:
    line = {**_CAST, **fields}
    vote = VOTE_JSON.load_or_none(json.dumps(line))
    assert vote == Vote.build(FeedbackVerdict.GOOD, AT, "U0ADA", inputs)
    assert json.dumps(format_vote(vote)) == json.dumps(line)


@pytest.mark.parametrize(("fields", "inputs"), UNMARKED.values(), ids=UNMARKED)
def test_a_vote_of_today_prints_the_same_line(fields: dict[str, Any], inputs: AnswerInputs) -> None:
    text = VOTE_JSON.dump_text(Vote.build(FeedbackVerdict.GOOD, AT, "U0ADA", inputs))
    assert json.loads(text)["version"] == 2
    vote = VOTE_JSON.load_or_none(text)
    assert vote
    assert json.dumps(format_vote(vote)) == json.dumps({**_CAST, **fields})


def test_the_time_of_a_vote_is_printed_in_the_zone_of_its_process() -> None:
    line = {**_CAST, "at": "2026-03-01T09:00:13.791469-08:00", **_QUESTION, **_WORK}
    vote = VOTE_JSON.load_or_none(json.dumps(line))
    assert vote
    assert format_vote(vote)["at"] == line["at"]


def test_a_vote_that_the_version_before_made_of_inputs_of_today_is_read() -> None:
    # it laid its own fields beside those that it found, the mark among them
    inputs = replace(ASKED, outcome=AnswerOutcome.FAILED, reason="late")
    vote = VOTE_JSON.load_or_none(json.dumps({**_CAST, **ANSWER_INPUTS_JSON.dump(inputs)}))
    assert vote == Vote.build(FeedbackVerdict.GOOD, AT, "U0ADA", inputs)


@pytest.mark.parametrize("codec", [ANSWER_INPUTS_JSON, VOTE_JSON], ids=["inputs", "vote"])
def test_what_a_later_version_stored_is_not_taken_for_absent(codec: Any) -> None:
    with pytest.raises(StoreUnavailable):
        codec.load_or_none(json.dumps({"version": 3, **_CAST, **_QUESTION}))


@pytest.mark.parametrize(("fields", "inputs"), UNMARKED.values(), ids=UNMARKED)
def test_a_draft_of_version_1_is_read(fields: dict[str, Any], inputs: AnswerInputs) -> None:
    below = [{"type": "context", "elements": []}]
    text = json.dumps({"text": "`x`", "said": "x", "below": below, "inputs": fields})
    draft = AnswerDraft("`x`", "x", below, inputs)
    assert ANSWER_DRAFT_JSON.load_text(text) == draft
    assert ANSWER_DRAFT_JSON.load_text(ANSWER_DRAFT_JSON.dump_text(draft)) == draft
    # a process of the version before reads these names
    assert {"text", "said", "below", "inputs"} < ANSWER_DRAFT_JSON.dump(draft).keys()
