"""Runner of message batches: each is paid for once, also when a process dies between any two steps.

The intention to submit a batch is recorded before the call, the provider's id right after it. A process that finds
an intention without an id looks for the batch among those that the provider has. Answers are kept before the batch
is removed from the store, and its cost is counted in the step that removes it.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from bot.domain.errors import ModelBusy, ModelError
from bot.domain.operations.batch import PendingBatch, hash_fingerprints
from bot.domain.operations.ledger import CallKind, CallOrigin, LedgerEntry, build_call_entry
from bot.domain.operations.usage import NO_USAGE, PriceList
from bot.ports import BatchResult, BatchStatus, BatchStore, ModelBatches, Prompt
from bot.services.history.backfill import BackfillAborted
from bot.services.history.throttle import WaitListener

log = logging.getLogger(__name__)

# batches end within 24 hours (docs.anthropic.com, "Batch processing")
_LONGEST_BATCH = timedelta(hours=26)
# seconds between two looks: few batches are over within a minute, most within an hour
_FIRST_PAUSE, _LONGEST_PAUSE, _PAUSE_GROWTH = 1.0, 60.0, 1.5
_MAX_FAILED_LOOKS = 10
# the provider's clock and ours may differ
_CLOCK_SKEW = timedelta(minutes=5)

# keeps an answer by the fingerprint of its prompt; raises ModelAnswerInvalid
AnswerKeeper = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What a batch cost in US dollars, and the prompts that it left without an answer, by fingerprint.

    Each of them has its error, and whether another attempt makes sense.
    """

    dollars: float = 0.0
    failures: Mapping[str, tuple[ModelError, bool]] = field(default_factory=dict)


NO_BATCH = BatchReport()


@dataclass(frozen=True, slots=True)
class BatchClock:
    """The time of a runner: the current time (aware), the local date of the ledger, and what waits for seconds."""

    now: Callable[[], dt.datetime]
    get_date: Callable[[], dt.date]
    sleep: Callable[[float], None]


class BatchRunner:
    """Runner of the batches of a repository, one after the other."""

    def __init__(
        self,
        batches: ModelBatches,
        store: BatchStore,
        keep_answer: AnswerKeeper,
        prices: PriceList,
        clock: BatchClock,
    ) -> None:
        self._batches = batches
        self._store = store
        self._keep_answer = keep_answer
        self._prices = prices
        self._clock = clock

    def try_lock(self, repository: str) -> AbstractContextManager[bool]:
        """Keep other processes from running batches of a repository; yield whether that succeeded."""
        return self._store.try_lock(repository)

    def run_batch(self, repository: str, prompts: Sequence[Prompt], say: WaitListener) -> BatchReport:
        """Submit prompts of one model, wait for the results, and keep them.

        Raises:
            BackfillAborted: the batch could not be submitted, or is not over; another run goes on with it.
        """
        content = hash_fingerprints(prompt.fingerprint for prompt in prompts)
        pending = PendingBatch(self._clock.now(), prompts[0].model, len(prompts), content)
        self._store.save(repository, pending)
        try:
            status = self._batches.submit_prompts(prompts)
        except ModelError as error:
            raise BackfillAborted(
                f"The batch could not be submitted ({error}): run the same command again later."
            ) from error
        pending = replace(pending, name=status.name)
        self._store.save(repository, pending)
        log.info("submitted %s with %d requests", status.name, status.count)
        return self._complete_batch(repository, pending, say) or NO_BATCH

    def resume_batch(self, repository: str, say: WaitListener) -> BatchReport:
        """Go on with the batch of an earlier process, if there is one.

        Raises:
            BackfillAborted: the batch is not over; another run goes on with it.
        """
        pending = self._store.load(repository)
        if pending is None:
            return NO_BATCH
        report = None
        for candidate in self._list_candidates(pending):
            report = report or self._complete_batch(repository, candidate, say)
        if report is None:
            # it was never created, or the provider has forgotten it: its prompts are collected again
            log.warning("the batch of an earlier run is gone: its summaries are asked for again")
            self._store.finish(repository, LedgerEntry(self._clock.get_date(), {}))
        return report or NO_BATCH

    def _list_candidates(self, pending: PendingBatch) -> Sequence[PendingBatch]:
        """Return the batch with its id, or those that it may be if the id was never learned."""
        if pending.name:
            return [pending]
        created = self._batches.list_since(pending.begun_at - _CLOCK_SKEW)
        return [replace(pending, name=each.name) for each in created if each.count == pending.count]

    def _complete_batch(self, repository: str, pending: PendingBatch, say: WaitListener) -> BatchReport | None:
        """Wait for a batch, keep its answers, and count its cost. Return None if it is gone, or another batch."""
        if self._wait_until_over(pending, say) is None:
            return None
        results = self._read_results(pending)
        if hash_fingerprints(result.fingerprint for result in results) != pending.content:
            return None
        failures = {each.fingerprint: failure for each in results if (failure := self._keep_result(each))}
        entry, dollars = self._count_costs(pending, results)
        self._store.finish(repository, entry)
        return BatchReport(dollars, failures)

    def _wait_until_over(self, pending: PendingBatch, say: WaitListener) -> BatchStatus | None:
        """Return the state of a batch once it is over, None if the provider does not know it."""
        end, pause, failed_looks = self._clock.now() + _LONGEST_BATCH, _FIRST_PAUSE, 0
        while self._clock.now() < end and failed_looks < _MAX_FAILED_LOOKS:
            try:
                status = self._batches.get_status(pending.name)
            except ModelBusy:
                failed_looks += 1
            else:
                if status is None or status.is_over:
                    say("")
                    return status
                failed_looks = 0
                say(f"waiting for {pending.name}: {status.done:,} of {status.count:,} done")
            self._clock.sleep(pause)
            pause = min(_PAUSE_GROWTH * pause, _LONGEST_PAUSE)
        raise BackfillAborted(
            f"The batch {pending.name} is not over, or can't be reached: run the same command again later. "
            "Nothing is paid for twice."
        )

    def _read_results(self, pending: PendingBatch) -> Sequence[BatchResult]:
        try:
            return list(self._batches.iterate_results(pending.name))
        except ModelBusy as error:
            raise BackfillAborted(
                f"The results of {pending.name} could not be fetched ({error}): run the same command again later."
            ) from error

    def _keep_result(self, result: BatchResult) -> tuple[ModelError, bool] | None:
        """Keep an answer. Return the error if there is none, and whether another attempt makes sense."""
        if isinstance(result.outcome, ModelError):
            return result.outcome, result.may_repeat
        try:
            self._keep_answer(result.fingerprint, result.outcome.text)
        except ModelError as error:
            return error, True
        return None

    def _count_costs(self, pending: PendingBatch, results: Sequence[BatchResult]) -> tuple[LedgerEntry, float]:
        """Return the entry for the ledger, and the US dollars. Requests without tokens were not answered."""
        used = [result.outcome.usage for result in results if result.outcome.usage != NO_USAGE]
        dollars = sum(self._prices.cautious_batch_cost(pending.model, usage) for usage in used)
        date = self._clock.get_date()
        total = sum(used, NO_USAGE)
        entry = build_call_entry(date, CallKind.BATCH, CallOrigin.TERMINAL, total, dollars, len(used))
        return entry, dollars
