"""Asking a model for an answer in JSON: kept, validated, asked for again, and by one process at a time."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from bot.errors import ModelAnswerInvalid, ModelAnswerTruncated, ModelBusy, ModelError
from bot.platform.models import Model, Prompt
from bot.platform.models.answers import describe_validation_error
from bot.platform.store.tables import Table
from bot.usage import NO_USAGE, Usage

if TYPE_CHECKING:
    from bot.app import App

log = logging.getLogger(__name__)

T = TypeVar("T", bound=BaseModel)

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
