"""Validated answers of a model in JSON: cached, and each question asked by one process at a time."""

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
    """The limits of retries: ``attempts`` in all, none started later than ``seconds`` after the first."""

    attempts: int = 3
    seconds: float = 90.0


@dataclass(frozen=True, slots=True)
class StructuredAnswer(Generic[T]):
    """A validated answer. ``usage`` covers all attempts of this run; it is zero for a cached answer."""

    value: T
    usage: Usage = NO_USAGE
    from_cache: bool = False


class StructuredCompletion:
    """Client of a model that validates answers, retries if that may help, and caches the answers."""

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
        """Return the answer to a prompt, as a value of ``shape``.

        Raises:
            ModelError: there is no usable answer; nothing is cached then.
        """
        cached = self._load_cached(prompt, shape)
        if cached:
            return cached
        with self._cache.acquire_lease(prompt.key):
            # the previous holder of the lease has most likely answered the same question
            cached = self._load_cached(prompt, shape)
            return cached or self._ask_model(prompt, shape)

    def compute_cost(self, model: str, usage: Usage) -> float | None:
        """Return the cost of an answer or a failure in US dollars, None if a price is unknown."""
        return self._prices.cost(model, usage)

    def _load_cached(self, prompt: Prompt, shape: type[T]) -> StructuredAnswer[T] | None:
        text = self._cache.get(prompt.key)
        if text is None:
            return None
        try:
            return StructuredAnswer(shape.model_validate_json(text), from_cache=True)
        except ValidationError as error:
            log.warning("a cached answer no longer fits, asking again: %s", describe_validation_error(error))
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
    """Stop if the service requests a longer pause than a summary may wait: one of facts is available at once."""

    def __call__(self, retry_state: RetryCallState) -> bool:
        return _compute_pause(retry_state) > _MAX_PAUSE_SECONDS


def _compute_pause(state: RetryCallState) -> float:
    """Return the seconds that the service requests, else exponential ones; none if only the answer was wrong."""
    error = state.outcome.exception() if state.outcome else None
    if not isinstance(error, ModelBusy):
        return 0.0
    return error.retry_after if error.retry_after is not None else float(_BACKOFF(state))


class _AttemptSeries:
    """The attempts at one question; each prompt is corrected by the last failure."""

    def __init__(self, model: Model, prompt: Prompt) -> None:
        self._model = model
        self._first = prompt
        self._next = prompt
        self.usage = NO_USAGE

    def run_until_valid(self, shape: type[T], retrying: Retrying) -> T:
        """Ask until an answer is valid. Raises the last ModelError, with the usage of all attempts."""
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
            problem = describe_validation_error(error)
            log.info("model answer refused: %s", problem)
            self._next = replace(self._next, user=f"{self._first.user}\n\n{_RETRY_NOTE.format(problem)}")
            raise ModelAnswerInvalid(f"the model's answer can't be used ({problem})") from error
        except ModelError as error:
            self.usage += error.usage
            if isinstance(error, ModelAnswerTruncated):
                self._next = replace(self._next, max_tokens=2 * self._next.max_tokens)
            raise


_RETRY_NOTE = "Your last answer to this was refused: {}. Answer again, within the limits."


def describe_validation_error(error: ValidationError) -> str:
    """Return which fields are wrong and why, without their text, which comes from outside."""
    problems = [f"{'.'.join(map(str, item['loc'])) or 'answer'}: {item['msg']}" for item in error.errors()[:3]]
    return "; ".join(problems)
