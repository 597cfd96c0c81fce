"""Schemas of the model's answers, with the limits that the service itself can't enforce.

An answer is refused, and requested again, only if it is of no use to a reader: if a headline, an overview or a
section is empty. Texts that are too long are cut, and a theme without a title is dropped: the rest is paid for
and useful without it.

The meaning of each field is explained once, in the instructions (``bot/prompts``). The schema in every prompt has
no descriptions, because every pull request pays for it.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from bot.domain.digest.models import MAX_OVERVIEW_LENGTH
from bot.domain.summaries.models import MAX_HEADLINE_LENGTH, ChangeType, RiskKind
from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.platform.models.prompts import CompactSchema

# each is searched in the diff; more would prove nothing more
MAX_QUOTES = 12
# more would be read by nobody; the prompt asks for four
_MAX_RISKS = 8
# far above the length that the prompt requests; Slack gets less
_MAX_SECTION_LENGTH = 8_000
_MAX_LINE_LENGTH = 1_000
_MAX_TITLE_LENGTH = 80


def _sanitize_line(text: str) -> str:
    return redact_text(collapse_lines(text))


def _require_text(text: str) -> str:
    if not collapse_lines(text):
        raise ValueError("must not be empty")
    return text


def _drop_blank(text: str) -> str:
    return text if collapse_lines(text) else ""


def limit_length(limit: int) -> AfterValidator:
    """Return a validator that cuts a text to ``limit`` characters; credentials must be removed before."""
    return AfterValidator(partial(truncate_text, limit=limit))


NonEmpty = AfterValidator(_require_text)
SafeLine = AfterValidator(_sanitize_line)
OptionalProse = Annotated[
    str,
    StringConstraints(strip_whitespace=True),
    AfterValidator(redact_text),
    AfterValidator(_drop_blank),
    limit_length(_MAX_SECTION_LENGTH),
]
Prose = Annotated[OptionalProse, NonEmpty]
SafeText = Annotated[str, SafeLine, limit_length(_MAX_LINE_LENGTH)]


class AnswerShape(BaseModel):
    """Base of the answers. Unknown fields are dropped: an answer with more is not wrong."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class QuoteAnswer(AnswerShape):
    """A quote of a line in the diff, not verified."""

    path: Annotated[str, AfterValidator(redact_text)]
    quote: Annotated[str, AfterValidator(redact_text)]


class RiskAnswer(AnswerShape):
    """One thing that could break."""

    claim: OptionalProse
    where: SafeText = ""
    kind: RiskKind = RiskKind.OTHER


def _select_risks(risks: list[RiskAnswer]) -> list[RiskAnswer]:
    return [risk for risk in risks if collapse_lines(risk.claim)][:_MAX_RISKS]


class SummaryAnswer(AnswerShape):
    """The summary of one pull request."""

    type: ChangeType
    headline: Annotated[str, SafeLine, NonEmpty, limit_length(MAX_HEADLINE_LENGTH)]
    what_changed_and_why: Prose
    technical_impact: Prose
    risks: Annotated[list[RiskAnswer], AfterValidator(_select_risks)] = Field(default_factory=list)
    key_insights: OptionalProse = ""
    risk_reason: SafeText = ""
    action: SafeText = ""
    evidence: list[QuoteAnswer] = Field(default_factory=list)


class ThemeAnswer(AnswerShape):
    """A theme of a day: its title and the numbers of its pull requests."""

    title: Annotated[str, SafeLine, limit_length(_MAX_TITLE_LENGTH)]
    pull_requests: list[int]


def _drop_untitled(themes: list[ThemeAnswer]) -> list[ThemeAnswer]:
    return [theme for theme in themes if theme.title]


class OverviewAnswer(AnswerShape):
    """The overview of a day and its themes."""

    overview: Annotated[str, SafeLine, NonEmpty, limit_length(MAX_OVERVIEW_LENGTH)]
    themes: Annotated[list[ThemeAnswer], AfterValidator(_drop_untitled)] = Field(default_factory=list)


@cache
def build_schema(shape: type[AnswerShape]) -> dict[str, Any]:
    """Build the JSON schema of an answer for the service: all fields required, no limits, closed objects.

    It is the same object each time, as building it takes milliseconds; nobody changes it.
    """
    schema: dict[str, Any] = _close_objects(shape.model_json_schema(schema_generator=CompactSchema))
    return schema


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
