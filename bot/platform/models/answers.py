"""Shapes of a model's answers in JSON, with the limits that the service itself can't enforce, and their schemas.

An answer is refused, and requested again, only if it is of no use to a reader, as without a headline. Texts that
are too long are cut: the rest is paid for and useful without it. What a field means is explained once, in the
instructions (``bot/prompts``): every prompt pays for its schema, which has no descriptions.
"""

from __future__ import annotations

import logging
from functools import cache, partial
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationError

from bot.platform.models.prompts import CompactSchema
from bot.redaction import redact_text
from impact.text.strings import collapse_lines, truncate_text

log = logging.getLogger(__name__)

T = TypeVar("T", bound=BaseModel)

# far above the length that prompts request; Slack gets less
_MAX_SECTION_LENGTH, _MAX_LINE_LENGTH = 8_000, 1_000


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


@cache
def build_schema(shape: type[AnswerShape]) -> dict[str, Any]:
    """Build the JSON schema of an answer, once: all fields required, no limits, closed objects."""
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


def describe_validation_error(error: ValidationError) -> str:
    """Return which fields are wrong and why, without their text, which comes from outside."""
    problems = [f"{'.'.join(map(str, item['loc'])) or 'answer'}: {item['msg']}" for item in error.errors()[:3]]
    return "; ".join(problems)
