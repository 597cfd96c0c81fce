"""Models whose calls are counted and logged: with time, tokens and cost, never with their text."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from bot.adapters.metrics.instruments import Instruments
from bot.domain.errors import ModelBusy, ModelError
from bot.domain.operations.budget import CallPurpose
from bot.domain.operations.usage import NO_USAGE, PriceList, Usage
from bot.ports import Chat, ChatEvent, ChatModel, Completion, Model, Prompt, TurnUsage

log = logging.getLogger(__name__)


@dataclass
class _ObservedCall:
    """A call while it runs: its usage as far as it is known, and its result."""

    usage: Usage = NO_USAGE
    result: str = "failed"


class _CallObserver:
    """Observer of the calls of a provider's models."""

    def __init__(self, instruments: Instruments, prices: PriceList) -> None:
        self._instruments = instruments
        self._prices = prices

    @contextmanager
    def observe_call(self, model: str, purpose: CallPurpose) -> Iterator[_ObservedCall]:
        """Observe the call of the block, which sets its usage."""
        call, began = _ObservedCall(), time.monotonic()
        try:
            yield call
            call.result = "ok"
        except GeneratorExit:
            # the reader needs no more text
            call.result = "ok"
            raise
        except ModelError as error:
            call.usage = call.usage if call.usage != NO_USAGE else error.usage
            call.result = "busy" if isinstance(error, ModelBusy) else "failed"
            raise
        finally:
            self._record_call(model, purpose.name.lower(), call, time.monotonic() - began)

    def _record_call(self, model: str, purpose: str, call: _ObservedCall, seconds: float) -> None:
        usage, instruments = call.usage, self._instruments
        instruments.model_calls.labels(model, purpose, call.result).inc()
        instruments.model_call_seconds.labels(model).observe(seconds)
        for kind, count in _list_tokens(usage):
            instruments.model_tokens.labels(model, kind).inc(count)
        instruments.model_cost.labels(model).inc(self._prices.cost(model, usage) or 0.0)
        log.info(
            "model call: %s for %s, %s after %.1f s, %d tokens read, %d written",
            model,
            purpose,
            call.result,
            seconds,
            usage.prompt_tokens,
            usage.output,
        )


def _list_tokens(usage: Usage) -> tuple[tuple[str, int], ...]:
    """Return the tokens of a call by kind."""
    return (
        ("input", usage.input),
        ("output", usage.output),
        ("cache_read", usage.cache_read),
        ("cache_write", usage.cache_write + usage.cache_write_hour),
    )


class ObservedModel:
    """A ``Model`` whose calls are observed."""

    def __init__(self, model: Model, instruments: Instruments, prices: PriceList) -> None:
        self._model = model
        self._observer = _CallObserver(instruments, prices)

    def complete(self, prompt: Prompt) -> Completion:
        """Return the completion of a prompt. Raises what the model raises."""
        with self._observer.observe_call(prompt.model, prompt.need) as call:
            completion = self._model.complete(prompt)
            call.usage = completion.usage
        return completion


class ObservedChat:
    """A ``ChatModel`` whose calls are observed."""

    def __init__(self, chat: ChatModel, instruments: Instruments, prices: PriceList) -> None:
        self._chat = chat
        self._observer = _CallObserver(instruments, prices)

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Yield the events of the model's next turn. Raises what the model raises."""
        observed_call = self._observer.observe_call(chat.model, chat.need)
        with observed_call as call, closing(self._chat.stream_turn(chat)) as events:
            for event in events:
                if isinstance(event, TurnUsage):
                    call.usage = event.usage
                yield event
