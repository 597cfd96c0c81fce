"""Claude's message batches: many prompts at half the price, answered within 24 hours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

import anthropic
from anthropic.types import Message
from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

from bot.adapters.http.bounded_calls import bound_requests
from bot.adapters.models.claude.completion import build_parameters, make_claude_client, parse_completion
from bot.adapters.models.claude.errors import CALL_ERRORS, OperatorAdvice, translate_claude_errors
from bot.domain.errors import ModelBusy, ModelError, ModelRequestRejected
from bot.ports import BatchResult, BatchStatus, ModelAccess, Prompt

# seconds for one call, from its beginning to the last byte: the prompts and the results are some tens of megabytes
_CALL_SECONDS = 600.0
_PAGE_SIZE = 100
_UNREADABLE = "the answer about the batch can't be read"
# errors of a single request that the same request would meet again
_LASTING_ERRORS = {"invalid_request_error", "not_found_error", "permission_error", "request_too_large"}


class ClaudeBatches:
    """``ModelBatches`` over the Message Batches API."""

    def __init__(self, access: ModelAccess) -> None:
        self._client = make_claude_client(access.key, access.address)
        self._advice = OperatorAdvice()

    def submit_prompts(self, prompts: Sequence[Prompt]) -> BatchStatus:
        """Submit prompts as one batch. See :class:`bot.ports.ModelBatches`."""
        with self._translate_errors():
            batch = self._client.messages.batches.create(
                requests=[{"custom_id": each.fingerprint, "params": build_parameters(each)} for each in prompts],
                timeout=_CALL_SECONDS,
            )
            return self._read_status(batch)

    def list_since(self, moment: datetime) -> Sequence[BatchStatus]:
        """List the batches that were created since a moment, newest first."""
        statuses: list[BatchStatus] = []
        with self._translate_errors():
            for batch in self._client.messages.batches.list(limit=_PAGE_SIZE):
                status = self._read_status(batch)
                if status.created_at < moment:
                    break
                statuses.append(status)
        return statuses

    def get_status(self, name: str) -> BatchStatus | None:
        """Return the state of a batch, None if there is none with that id."""
        with self._translate_errors():
            try:
                return self._read_status(self._client.messages.batches.retrieve(name))
            except anthropic.NotFoundError:
                return None

    def iterate_results(self, name: str) -> Iterator[BatchResult]:
        """Return the results of a batch that is over. All are read first: the bound of the call covers them."""
        with self._translate_errors():
            responses = self._client.messages.batches.results(name, timeout=_CALL_SECONDS)
            return iter([_read_result(response) for response in responses])

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Bound the calls of the block. Raises ModelBusy and ModelRequestRejected."""
        try:
            with bound_requests(_CALL_SECONDS):
                yield
        except CALL_ERRORS as error:
            self._advice.log_advice(error)
            raise translate_claude_errors(error) from error
        except ModelError:
            raise
        except Exception as error:
            # the SDK does not check what it receives, and fails on answers that are not Claude's or that are cut
            raise ModelBusy(_UNREADABLE) from error

    def _read_status(self, batch: object) -> BatchStatus:
        """Return the state of a batch; an answer that is none is another server's. Raises ModelBusy."""
        if not isinstance(batch, MessageBatch) or not isinstance(batch.created_at, datetime):
            raise self._advice.report_wrong_service()
        counts = batch.request_counts
        done = counts.succeeded + counts.errored + counts.canceled + counts.expired
        return BatchStatus(
            batch.id, batch.created_at, counts.processing + done, done, batch.processing_status == "ended"
        )


def _read_result(response: MessageBatchIndividualResponse) -> BatchResult:
    """Return the result of one request."""
    result, name = response.result, response.custom_id
    if result.type == "succeeded" and isinstance(result.message, Message):
        try:
            return BatchResult(name, parse_completion(result.message))
        except ModelError as error:
            return BatchResult(name, error)
    if result.type == "errored":
        detail = result.error.error
        lasts = detail.type in _LASTING_ERRORS
        return BatchResult(name, ModelRequestRejected("the model rejected the request"), may_repeat=not lasts)
    return BatchResult(name, ModelBusy(f"the request in the batch ended as {result.type}"), may_repeat=True)
