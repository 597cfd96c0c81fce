"""Message batches: many questions to a model at once, answered within a day, at a lower price."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.errors import ModelError
from bot.ports.model.llm import Completion, Prompt


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """The state of a batch at the provider: how many of its requests are done, and whether it is over."""

    name: str
    created_at: datetime
    count: int
    done: int
    is_over: bool


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of one request of a batch, by the fingerprint of its prompt.

    ``may_repeat`` is True for a failure that another batch may avoid, such as an expired request.
    """

    fingerprint: str
    outcome: Completion | ModelError
    may_repeat: bool = False


class ModelBatches(Protocol):
    """The message batches of a provider. Every method may raise ModelBusy and ModelRequestRejected."""

    def submit_prompts(self, prompts: Sequence[Prompt]) -> BatchStatus:
        """Submit prompts of different fingerprints as one batch. It is paid for from then on."""

    def list_since(self, moment: datetime) -> Sequence[BatchStatus]:
        """List the batches that were created at ``moment`` (aware) or later, newest first."""

    def get_status(self, name: str) -> BatchStatus | None:
        """Return the state of a batch, None if the provider does not know it."""

    def iterate_results(self, name: str) -> Iterator[BatchResult]:
        """Yield the results of a batch that is over, in any order."""

    def close(self) -> None:
        """Close the connection."""
