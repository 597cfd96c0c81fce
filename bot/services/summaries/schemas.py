"""The shapes that the model answers in, with the bounds that the service itself can't enforce.

An answer is refused, and asked for again, where a reader would have nothing of it: a headline, an overview or a
section that is empty. What is too long is cut, and a theme without a title is dropped: the rest was paid for and
is of use without it.

What each field means is told once, in the instructions (``bot/prompts``); the schema that goes with every prompt
is bare, because every pull request pays for it.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.json_schema import GenerateJsonSchema

from bot.domain.digest.models import MAX_OVERVIEW_LENGTH
from bot.domain.summaries.models import MAX_HEADLINE_LENGTH, ChangeType
from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines, truncate_text

# looked up in the diff one by one; more would prove nothing more
MAX_QUOTES = 12
# far above what is asked for; Slack gets less
_MAX_SECTION_LENGTH = 8_000
_MAX_LINE_LENGTH = 1_000
_MAX_TITLE_LENGTH = 80


def _sanitize_line(text: str) -> str:
    return redact_text(collapse_lines(text))


def _require_text(text: str) -> str:
    if not collapse_lines(text):
        raise ValueError("must not be empty")
    return text


def _limit_length(limit: int) -> AfterValidator:
    """Cut a text to so many characters; credentials have to be taken out of it before."""
    return AfterValidator(partial(truncate_text, limit=limit))


NonEmpty = AfterValidator(_require_text)
SafeLine = AfterValidator(_sanitize_line)
Prose = Annotated[
    str,
    StringConstraints(strip_whitespace=True),
    AfterValidator(redact_text),
    NonEmpty,
    _limit_length(_MAX_SECTION_LENGTH),
]
SafeText = Annotated[str, SafeLine, _limit_length(_MAX_LINE_LENGTH)]


class AnswerShape(BaseModel):
    """Base of the shapes. Unknown fields are dropped: a model that says more is not wrong for it."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class QuoteAnswer(AnswerShape):
    path: Annotated[str, AfterValidator(redact_text)]
    quote: Annotated[str, AfterValidator(redact_text)]


class SummaryAnswer(AnswerShape):
    type: ChangeType
    headline: Annotated[str, SafeLine, NonEmpty, _limit_length(MAX_HEADLINE_LENGTH)]
    what_changed_and_why: Prose
    technical_impact: Prose
    potential_risks: Prose
    key_insights: Prose
    risk_reason: SafeText = ""
    action: SafeText = ""
    evidence: list[QuoteAnswer] = Field(default_factory=list)


class ThemeAnswer(AnswerShape):
    title: Annotated[str, SafeLine, _limit_length(_MAX_TITLE_LENGTH)]
    pull_requests: list[int]


def _drop_untitled(themes: list[ThemeAnswer]) -> list[ThemeAnswer]:
    return [theme for theme in themes if theme.title]


class OverviewAnswer(AnswerShape):
    overview: Annotated[str, SafeLine, NonEmpty, _limit_length(MAX_OVERVIEW_LENGTH)]
    themes: Annotated[list[ThemeAnswer], AfterValidator(_drop_untitled)] = Field(default_factory=list)


class CompactSchema(GenerateJsonSchema):
    """Without titles and defaults: they repeat the names and cost tokens in every prompt."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def build_schema(shape: type[AnswerShape]) -> dict[str, Any]:
    """JSON schema of a shape, for the service: every field required, no bounds, closed objects."""
    found: dict[str, Any] = _close_objects(shape.model_json_schema(schema_generator=CompactSchema))
    return found


def _close_objects(node: Any) -> Any:
    if isinstance(node, list):
        return [_close_objects(item) for item in node]
    if not isinstance(node, dict):
        return node
    dropped = ("title", "default", "maxLength", "minLength", "description")
    kept = {
        key: _close_objects(value) for key, value in node.items() if key not in dropped or isinstance(value, dict)
    }
    if kept.get("type") == "object":
        kept |= {"additionalProperties": False, "required": list(kept["properties"])}
    return kept
