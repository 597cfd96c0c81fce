"""Collector of the prompts that a backfill has answered in message batches."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence

from bot.domain.errors import ModelError, ModelRequestRejected, PrdigestError
from bot.domain.operations.usage import PriceList, Usage
from bot.ports import Completion, Prompt
from bot.services.history.backfill import CostLimit

# far below the 100,000 requests and 256 MB of Anthropic's batches (docs.anthropic.com, "Batch processing"): all
# prompts of a batch are held in memory
_MAX_REQUESTS = 5_000
_MAX_CHARACTERS = 64_000_000
# attempts at one prompt in one run
_MAX_ATTEMPTS = 3
# the least number of characters of English and code in a token, as for the meter of single calls
_CHARACTERS_PER_TOKEN = 3
_WAITS_FOR_BATCH = "it waits for its batch"


class CollectionFull(PrdigestError):
    """Signal that a prompt does not fit: into the batch, or into what may be spent."""


class BatchCollector:
    """``Model`` that answers nothing: it collects each prompt, once, for the next batch.

    ``limit`` bounds what all batches may cost at most. It may be shared by threads.
    """

    def __init__(self, prices: PriceList, limit: CostLimit) -> None:
        self._prices = prices
        self._limit = limit
        self._prompts: dict[str, Prompt] = {}
        self._attempts: dict[str, int] = {}
        self._failures: dict[str, str] = {}
        self._characters = 0
        self._reserved = 0.0
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt) -> Completion:
        """Collect a prompt.

        Raises:
            ModelRequestRejected: always; the prompt waits for its batch, or failed in earlier ones.
            CollectionFull: it does not fit.
        """
        fingerprint = prompt.fingerprint
        with self._lock:
            if fingerprint in self._failures:
                raise ModelRequestRejected(self._failures[fingerprint])
            if fingerprint not in self._prompts:
                self._add_prompt(fingerprint, prompt)
        raise ModelRequestRejected(_WAITS_FOR_BATCH)

    def take_prompts(self) -> Sequence[Prompt]:
        """Return the collected prompts, and begin with none again."""
        with self._lock:
            prompts = tuple(self._prompts.values())
            for fingerprint in self._prompts:
                self._attempts[fingerprint] = self._attempts.get(fingerprint, 0) + 1
            self._prompts, self._characters, self._reserved = {}, 0, 0.0
        return prompts

    def note_failures(self, failures: Mapping[str, tuple[ModelError, bool]]) -> None:
        """Note which prompts failed, and whether another attempt makes sense; three are made in all."""
        with self._lock:
            for fingerprint, (error, may_repeat) in failures.items():
                if not may_repeat or self._attempts.get(fingerprint, 0) >= _MAX_ATTEMPTS:
                    self._failures[fingerprint] = str(error)

    def _add_prompt(self, fingerprint: str, prompt: Prompt) -> None:
        characters = len(prompt.system) + len(prompt.user) + len(json.dumps(prompt.schema))
        most = Usage(input=characters // _CHARACTERS_PER_TOKEN, output=prompt.max_tokens)
        dollars = self._prices.cautious_batch_cost(prompt.model, most)
        is_full = len(self._prompts) >= _MAX_REQUESTS or self._characters + characters > _MAX_CHARACTERS
        if is_full or self._limit.spent + self._reserved + dollars > self._limit.maximum:
            raise CollectionFull("the batch is full")
        self._prompts[fingerprint] = prompt
        self._characters += characters
        self._reserved += dollars
