"""Readings of matched pairs: each merge is reviewed by itself, within a cost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from bot.domain.errors import ModelError, SourceUnavailable
from bot.domain.evaluation.labels import EvaluationWindow
from bot.domain.evaluation.pairs import MatchedPair, MergeRecord, PairChoice, PairRule, match_pairs
from bot.domain.evaluation.readings import Reading, ReadPair
from bot.domain.pull_requests.models import PullRequest
from bot.domain.risk.assessment import Risk, assess_pull_request
from bot.services.history.backfill import CostLimit
from bot.services.operations.worker_threads import DeadlineExecutor
from bot.services.review.conversation import ReviewCost
from bot.services.review.reviewer import ReviewResult
from bot.services.risk.evaluation import MergeHistory

ReviewCallback = Callable[[PullRequest, ReviewCost], ReviewResult]
CostStart = Callable[[PullRequest], ReviewCost]
# readings without a report, one after another, after which the model is not asked again
_MAX_FAILURES = 5


def choose_pairs(history: MergeHistory, window: EvaluationWindow, rule: PairRule) -> PairChoice:
    """Choose matched pairs among the merges of a window."""
    record = MergeRecord(history.pulls, history.past, history.outcomes, history.last)
    return match_pairs(record, history.classes, window, rule)


def assess_pair(pair: MatchedPair, history: MergeHistory) -> tuple[Risk, Risk]:
    """Return the risks of the repaired merge and of the other one by the rules, by what was known before each."""
    return (
        assess_pull_request(pair.repaired, history.classes, history.past),
        assess_pull_request(pair.other, history.classes, history.past),
    )


def review_merge(
    pull: PullRequest,
    load: Callable[[PullRequest], PullRequest],
    review: ReviewCallback,
    start_cost: CostStart,
) -> tuple[Reading, float]:
    """Load a merge and review it; return the reading and its cost as a limit counts it, in US dollars.

    A failure is the reading's problem.

    Raises:
        StoreUnavailable: what was read can't be kept.
    """
    try:
        loaded = load(pull)
    except SourceUnavailable as error:
        return Reading(problem=str(error).rstrip(".")), 0.0
    cost = start_cost(loaded)
    try:
        result = review(loaded, cost)
    except ModelError as error:
        reading = Reading(cost=cost.dollars, problem=str(error).rstrip("."))
    else:
        reading = Reading(result.review, result.recognised, cost.dollars)
    return reading, cost.cautious_dollars if cost.dollars is None else cost.dollars


class PairReader:
    """Reader of pairs, ``workers`` merges at a time.

    ``load`` returns a merge with its patches, ``start_cost`` the cost of its review, which begins then.
    """

    def __init__(
        self,
        load: Callable[[PullRequest], PullRequest],
        review: ReviewCallback,
        start_cost: CostStart,
        workers: int,
    ) -> None:
        self._load = load
        self._review = review
        self._start_cost = start_cost
        self._workers = workers

    def read_pairs(
        self,
        pairs: Sequence[MatchedPair],
        history: MergeHistory,
        limit: CostLimit,
        progress: Callable[[int, int], None],
    ) -> tuple[ReadPair, ...]:
        """Read both merges of each pair, and count the cost. After the limit, or five failures, read no more.

        Raises:
            StoreUnavailable: the store is away.
        """
        merges = [pull for pair in pairs for pull in (pair.repaired, pair.other)]
        run = _ReadingRun(self._read_merge, limit, len(merges), progress)
        with DeadlineExecutor(self._workers, "reading") as crew:
            readings = crew.map_items(run.read_next, merges)
        return tuple(
            ReadPair(pair, repaired, other, *assess_pair(pair, history))
            for pair, repaired, other in zip(pairs, readings[0::2], readings[1::2], strict=True)
        )

    def _read_merge(self, pull: PullRequest) -> tuple[Reading, float]:
        """Return a reading, and its cost as the limit counts it."""
        return review_merge(pull, self._load, self._review, self._start_cost)


class _ReadingRun:
    """The money, the failures and the progress of one run, for several threads."""

    def __init__(
        self,
        read: Callable[[PullRequest], tuple[Reading, float]],
        limit: CostLimit,
        total: int,
        progress: Callable[[int, int], None],
    ) -> None:
        self._read = read
        self._limit = limit
        self._total = total
        self._progress = progress
        self._done = self._failures = 0
        self._lock = threading.Lock()

    def read_next(self, pull: PullRequest) -> Reading:
        """Read a merge, unless the run is over."""
        stop = self._explain_stop()
        reading, spent = (Reading(problem=stop), 0.0) if stop else self._read(pull)
        with self._lock:
            self._limit.spent += spent
            if not stop:
                self._failures = 0 if reading.review else self._failures + 1
            self._done += 1
            self._progress(self._done, self._total)
        return reading

    def _explain_stop(self) -> str:
        """Return why nothing more is read, as a clause; empty while the run goes on."""
        with self._lock:
            if self._failures >= _MAX_FAILURES:
                return f"not read, as {self._failures} readings in a row failed"
            if not self._limit.spent < self._limit.maximum:
                return f"not read, as the limit of ${self._limit.maximum:.2f} is reached"
        return ""
