"""The shapes that the model answers in, with the bounds that the service itself can't enforce.

What each field means is told once, in the instructions (``bot/prompts``); the schema that goes with every prompt
is bare, because every pull request pays for it.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.json_schema import GenerateJsonSchema

from bot.domain.digest.models import OVERVIEW_LIMIT
from bot.domain.summaries.models import HEADLINE_LIMIT, ChangeType
from bot.domain.text.redaction import without_secrets
from bot.domain.text.strings import one_line

# looked up in the diff one by one; more would prove nothing more
MOST_EVIDENCE = 12
# far above what is asked for: an answer is refused where it is no use, not where it is wordy; Slack gets less
_LONGEST_SECTION = 8_000
_LONGEST_LINE = 1_000


def _safe_line(text: str) -> str:
    return without_secrets(one_line(text))


def _non_empty_line(text: str) -> str:
    line = _safe_line(text)
    if not line:
        raise ValueError("must not be empty")
    return line


Prose = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=_LONGEST_SECTION),
    AfterValidator(without_secrets),
]
Line = Annotated[str, AfterValidator(_safe_line), Field(max_length=_LONGEST_LINE)]


class Answer(BaseModel):
    """Base of the shapes. Unknown fields are dropped: a model that says more is not wrong for it."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class QuoteAnswer(Answer):
    path: Annotated[str, AfterValidator(without_secrets)]
    quote: Annotated[str, AfterValidator(without_secrets)]


class SummaryAnswer(Answer):
    type: ChangeType
    headline: Annotated[str, AfterValidator(_non_empty_line), Field(max_length=HEADLINE_LIMIT)]
    what_changed_and_why: Prose
    technical_impact: Prose
    potential_risks: Prose
    key_insights: Prose
    risk_reason: Line = ""
    action: Line = ""
    evidence: list[QuoteAnswer] = Field(default_factory=list)


class ThemeAnswer(Answer):
    title: Annotated[str, AfterValidator(_non_empty_line), Field(max_length=80)]
    pull_requests: list[int]


class OverviewAnswer(Answer):
    overview: Annotated[str, AfterValidator(_non_empty_line), Field(max_length=OVERVIEW_LIMIT)]
    themes: list[ThemeAnswer] = Field(default_factory=list)


class Plain(GenerateJsonSchema):
    """Without titles and defaults: they repeat the names and cost tokens in every prompt."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(shape: type[Answer]) -> dict[str, Any]:
    """JSON schema of a shape, for the service: every field required, no bounds, closed objects."""
    found: dict[str, Any] = _closed(shape.model_json_schema(schema_generator=Plain))
    return found


def _closed(node: Any) -> Any:
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    dropped = ("title", "default", "maxLength", "minLength", "description")
    kept = {key: _closed(value) for key, value in node.items() if key not in dropped or isinstance(value, dict)}
    if kept.get("type") == "object":
        kept |= {"additionalProperties": False, "required": list(kept["properties"])}
    return kept
