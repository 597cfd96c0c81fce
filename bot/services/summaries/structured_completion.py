"""Asks a model for JSON of a schema: from the cache if it was asked before, once at a time, and validated."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_exponential,
)
from tenacity.stop import stop_any, stop_base

from bot.domain.errors import ModelAnswerInvalid, ModelAnswerTruncated, ModelBusy, ModelError
from bot.domain.keyspace.keys import COMPLETION
from bot.domain.operations.usage import NO_PRICES, NO_USAGE, PriceList, Usage
from bot.ports import Cache, Model, Prompt

log = logging.getLogger(__name__)

T = TypeVar("T", bound=BaseModel)

# seconds; as for GitHub and Slack
_MAX_PAUSE_SECONDS = 30.0
_BACKOFF = wait_exponential(multiplier=1, min=1, max=10)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to go on asking: ``attempts`` in all, none begun later than ``seconds`` after the first."""

    attempts: int = 3
    seconds: float = 90.0


@dataclass(frozen=True, slots=True)
class StructuredAnswer(Generic[T]):
    """A validated answer. ``usage`` covers every attempt of this run, nothing for one from the cache."""

    value: T
    usage: Usage = NO_USAGE
    from_cache: bool = False


class StructuredCompletion:
    """Asks, validates, retries where that helps, and keeps what was answered."""

    def __init__(
        self,
        model: Model,
        cache: Cache,
        sleep: Callable[[float], None],
        prices: PriceList = NO_PRICES,
        patience: RetryPolicy = RetryPolicy(),
        lifetime: timedelta = COMPLETION.lifetime,
    ) -> None:
        self._model = model
        self._cache = cache
        self._sleep = sleep
        self._prices = prices
        self._patience = patience
        self._lifetime = lifetime

    def request_answer(self, prompt: Prompt, shape: type[T]) -> StructuredAnswer[T]:
        """The answer to a prompt, as a value of ``shape``.

        Raises:
            ModelError: there is no usable answer; nothing is cached then.
        """
        found = self._load_cached(prompt, shape)
        if found:
            return found
        with self._cache.acquire_lease(prompt.key):
            # whoever held the lease before has most likely answered the same question
            found = self._load_cached(prompt, shape)
            return found or self._ask_model(prompt, shape)

    def compute_cost(self, model: str, usage: Usage) -> float | None:
        """Return what an answer or a failure cost in US dollars, None where nobody knows."""
        return self._prices.cost(model, usage)

    def _load_cached(self, prompt: Prompt, shape: type[T]) -> StructuredAnswer[T] | None:
        text = self._cache.get(prompt.key)
        if text is None:
            return None
        try:
            return StructuredAnswer(shape.model_validate_json(text), from_cache=True)
        except ValidationError as error:
            log.warning("a cached answer no longer fits, asking again: %s", _describe_validation_error(error))
            return None

    def _ask_model(self, prompt: Prompt, shape: type[T]) -> StructuredAnswer[T]:
        attempts = _AttemptSeries(self._model, prompt)
        value = attempts.run_until_valid(shape, self._build_retrying())
        self._cache.put(prompt.key, value.model_dump_json(), self._lifetime)
        return StructuredAnswer(value, attempts.usage)

    def _build_retrying(self) -> Retrying:
        return Retrying(
            retry=retry_if_exception_type((ModelBusy, ModelAnswerTruncated, ModelAnswerInvalid)),
            wait=_compute_pause,
            stop=stop_any(
                _StopAtLongPause(),
                stop_after_attempt(self._patience.attempts),
                stop_before_delay(self._patience.seconds),
            ),
            sleep=self._sleep,
            reraise=True,
        )


class _StopAtLongPause(stop_base):
    """No service may want a longer pause than a summary may wait for: one of facts is there at once."""

    def __call__(self, retry_state: RetryCallState) -> bool:
        return _compute_pause(retry_state) > _MAX_PAUSE_SECONDS


def _compute_pause(state: RetryCallState) -> float:
    """What the service asks for, else exponential; none where only the answer was at fault."""
    error = state.outcome.exception() if state.outcome else None
    if not isinstance(error, ModelBusy):
        return 0.0
    return error.retry_after if error.retry_after is not None else float(_BACKOFF(state))


class _AttemptSeries:
    """One question asked several times: each time with what the last failure teaches."""

    def __init__(self, model: Model, prompt: Prompt) -> None:
        self._model = model
        self._first = prompt
        self._next = prompt
        self.usage = NO_USAGE

    def run_until_valid(self, shape: type[T], retrying: Retrying) -> T:
        try:
            answer: T = retrying(self._attempt_once, shape)
        except ModelError as error:
            error.usage = self.usage
            raise
        return answer

    def _attempt_once(self, shape: type[T]) -> T:
        try:
            completion = self._model.complete(self._next)
            self.usage += completion.usage
            return shape.model_validate_json(completion.text)
        except ValidationError as error:
            problem = _describe_validation_error(error)
            log.info("model answer refused: %s", problem)
            self._next = replace(self._next, user=f"{self._first.user}\n\n{_RETRY_NOTE.format(problem)}")
            raise ModelAnswerInvalid(f"the model's answer was not usable ({problem})") from error
        except ModelError as error:
            self.usage += error.usage
            if isinstance(error, ModelAnswerTruncated):
                self._next = replace(self._next, max_tokens=2 * self._next.max_tokens)
            raise


_RETRY_NOTE = "Your last answer to this was refused: {}. Answer again, within the limits."


def _describe_validation_error(error: ValidationError) -> str:
    """Which fields are wrong and how; never their text, which comes from outside."""
    problems = [f"{'.'.join(map(str, item['loc'])) or 'answer'}: {item['msg']}" for item in error.errors()[:3]]
    return "; ".join(problems)
