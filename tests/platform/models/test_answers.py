"""Which bound of a model's answer is cut, as nothing is lost but length, and which makes the answer no use.

The service holds the shape itself (fields, types, the two types of a change); these bounds it can't hold. An
answer to a question has no shape: it is cut where a message ends (``tests/features/questions/test_talk.py``).
What a model asks of a tool is refused with a reason, as a tool that searched for less would say something untrue.
"""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from bot.features.digest.overview import OverviewAnswer
from bot.features.questions.tools import SearchArguments
from bot.features.summaries.reading import SummaryAnswer
from bot.platform.models.completion import AnswerShape
from tests.emulators.claude.server import overview_answer, summary_answer

SHAPES: dict[str, type[AnswerShape]] = {"summary": SummaryAnswer, "overview": OverviewAnswer}
MADE = {"summary": summary_answer, "overview": overview_answer}
LINE, SECTION = 1_000, 8_000

# the longest that is kept whole, in characters; what is longer is cut to that
CUT = {
    ("summary", "headline"): 120,
    ("summary", "condition"): 100,
    ("summary", "what_changed_and_why"): SECTION,
    ("summary", "technical_impact"): SECTION,
    ("summary", "key_insights"): SECTION,
    ("summary", "risk_reason"): LINE,
    ("summary", "action"): LINE,
    ("overview", "overview"): 600,
}
THEME_TITLE = 80
# without these there is nothing to show
REFUSED = [
    ("summary", "headline"),
    ("summary", "what_changed_and_why"),
    ("summary", "technical_impact"),
    ("overview", "overview"),
]
# shown only where there is something
OPTIONAL = ("condition", "key_insights", "risk_reason", "action")
MAY_BE_EMPTY = [("summary", name) for name in OPTIONAL]
EMPTY = ["", " \n", "\t", "\u200b"]


def parse_answer(shape: str, **fields: Any) -> AnswerShape:
    return SHAPES[shape].model_validate_json(json.dumps(MADE[shape](**fields)))


@pytest.mark.parametrize(("shape", "field"), CUT)
@pytest.mark.parametrize("more", [0, 1, 5_000])
def test_what_is_too_long_is_cut(shape: str, field: str, more: int) -> None:
    limit = CUT[shape, field]
    text = "word " * (limit // 5 - 1)
    text += "x" * (limit - len(text) + more)
    got = getattr(parse_answer(shape, **{field: text}), field)
    assert len(got) <= limit
    assert got == text if not more else got.endswith("…")
    assert text.startswith(got.removesuffix("…").rstrip())


@pytest.mark.parametrize(("count", "length"), [(3, 10), (9, 10), (1, 9_000)])
def test_risks_that_are_too_many_or_too_long_are_cut(count: int, length: int) -> None:
    made = parse_answer("summary", risks=[{"claim": "x" * length, "where": "a.py", "kind": "other"}] * count)
    assert isinstance(made, SummaryAnswer)
    assert [len(risk.claim) for risk in made.risks] == [min(length, SECTION)] * min(count, 8)


@pytest.mark.parametrize("length", [81, 5_000])
def test_a_theme_s_title_is_cut_and_the_overview_stays(length: int) -> None:
    made = parse_answer("overview", themes=[{"title": "x" * length, "pull_requests": [1]}])
    assert isinstance(made, OverviewAnswer)
    assert [(len(theme.title), theme.title[-1]) for theme in made.themes] == [(THEME_TITLE, "…")]


@pytest.mark.parametrize(("shape", "field"), REFUSED)
@pytest.mark.parametrize("text", EMPTY)
def test_what_is_empty_where_a_reader_looks_is_refused(shape: str, field: str, text: str) -> None:
    with pytest.raises(ValidationError, match=field):
        parse_answer(shape, **{field: text})


@pytest.mark.parametrize(("shape", "field"), MAY_BE_EMPTY)
@pytest.mark.parametrize("text", EMPTY)
def test_what_is_shown_only_where_there_is_something_may_be_empty(shape: str, field: str, text: str) -> None:
    assert getattr(parse_answer(shape, **{field: text}), field) == ""


@pytest.mark.parametrize("text", EMPTY)
def test_a_theme_without_a_title_is_dropped_and_the_others_stay(text: str) -> None:
    themes = [{"title": text, "pull_requests": [1]}, {"title": "Retries", "pull_requests": [2]}]
    made = parse_answer("overview", themes=themes)
    assert isinstance(made, OverviewAnswer)
    assert [theme.title for theme in made.themes] == ["Retries"]


def test_every_text_of_the_shapes_is_in_the_table() -> None:
    """A field that is added has to say which it is."""
    decided = {*CUT, *REFUSED, *MAY_BE_EMPTY}
    texts = {
        (name, field)
        for name, shape in SHAPES.items()
        for field, schema in shape.model_json_schema()["properties"].items()
        if schema.get("type") == "string"
    }
    assert texts == decided


def test_what_a_tool_is_asked_beyond_its_bounds_is_refused() -> None:
    with pytest.raises(ValidationError, match="any_of"):
        SearchArguments.model_validate({"any_of": tuple("abcdefghijk")})
