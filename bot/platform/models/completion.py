"""Asking a model for an answer in JSON: kept, validated, asked for again, and by one process at a time."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationError

from bot.errors import ModelAnswerInvalid, ModelAnswerTruncated, ModelBusy, ModelError
from bot.platform.models import Model, Prompt
from bot.platform.models.prompts import CompactSchema
from bot.platform.store.tables import Table
from bot.redaction import redact_text
from bot.usage import NO_USAGE, Usage
from impact.text.strings import collapse_lines, truncate_text

if TYPE_CHECKING:
    from bot.app import App


# --- the shape of answers

# It has the limits that the service itself can't enforce. An answer is refused, and requested again, only if it is
# of no use to a reader, as without a headline. Texts that are too long are cut: the rest is paid for and useful
# without it. What a field means is explained once, in the instructions (``bot/prompts``): every prompt pays for
# its schema, which has no descriptions.

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


# --- asking

_MAX_ATTEMPTS = 3
# seconds: no attempt begins later; and no pause is longer, as facts are available at once
_MAX_SECONDS, _MAX_PAUSE_SECONDS = 90.0, 30.0
_RETRY_NOTE = "Your last answer to this was refused: {}. Answer again, within the limits."


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as JSON that was valid when it came."""

    text: str


ANSWERS = Table(
    "llm:{fingerprint}", KeptAnswer, "a model's answer", days=90, survives_reset=True, counted_as="model_answers"
)


@dataclass(frozen=True, slots=True)
class StructuredAnswer(Generic[T]):
    """A validated answer. ``usage`` covers all attempts of this run; it is zero for a cached answer."""

    value: T
    usage: Usage = NO_USAGE
    from_cache: bool = False


def request_answer(app: App, model: Model, prompt: Prompt, shape: type[T]) -> StructuredAnswer[T]:
    """Return the answer as a value of ``shape``; one process at a time asks. Raises ModelError with all usage."""
    if cached := _load_cached(app, prompt, shape):
        return cached
    with app.cached.hold_lease(ANSWERS, prompt.fingerprint):
        # the previous holder of the lease has most likely answered the same question
        if cached := _load_cached(app, prompt, shape):
            return cached
        answer = _ask_model(app, model, prompt, shape)
        app.cached.put(ANSWERS, KeptAnswer(answer.value.model_dump_json()), prompt.fingerprint)
    return answer


def _load_cached(app: App, prompt: Prompt, shape: type[T]) -> StructuredAnswer[T] | None:
    kept = app.cached.get(ANSWERS, prompt.fingerprint)
    try:
        return StructuredAnswer(shape.model_validate_json(kept.text), from_cache=True) if kept else None
    except ValidationError as error:
        log.warning("a cached answer no longer fits, asking again: %s", describe_validation_error(error))
        return None


def _ask_model(app: App, model: Model, prompt: Prompt, shape: type[T]) -> StructuredAnswer[T]:
    """Ask until an answer is valid; each prompt is corrected by the last failure. Raises the last ModelError."""
    question, usage, latest = prompt, NO_USAGE, time.monotonic() + _MAX_SECONDS
    for attempt in count(1):
        failure: ModelError
        pause = 0.0
        try:
            completion = model.complete(question)
            usage += completion.usage
            return StructuredAnswer(shape.model_validate_json(completion.text), usage)
        except ValidationError as error:
            problem = describe_validation_error(error)
            log.info("model answer refused: %s", problem)
            failure = ModelAnswerInvalid(f"the model's answer can't be used ({problem})")
            question = replace(question, user=f"{prompt.user}\n\n{_RETRY_NOTE.format(problem)}")
        except ModelAnswerTruncated as error:
            failure, usage = error, usage + error.usage
            question = replace(question, max_tokens=2 * question.max_tokens)
        except ModelBusy as error:
            failure, usage = error, usage + error.usage
            # without one that the service requests, growing ones
            pause = 2.0 ** (attempt - 1) if error.retry_after is None else error.retry_after
        except ModelError as error:
            error.usage += usage
            raise
        if attempt == _MAX_ATTEMPTS or pause > _MAX_PAUSE_SECONDS or time.monotonic() + pause >= latest:
            failure.usage = usage
            raise failure
        if pause:
            app.sleep(pause)
    raise AssertionError("unreachable")
