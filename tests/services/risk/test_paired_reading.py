"""Readings of pairs within a cost, and what ends them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from bot.adapters.models.claude import CLAUDE
from bot.domain.errors import ModelAnswerInvalid, SourceUnavailable, StoreUnavailable
from bot.domain.evaluation.models import EvaluationSource
from bot.domain.evaluation.pairs import MatchedPair
from bot.domain.history.file_history import FileHistory
from bot.domain.operations.usage import Usage
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES
from bot.domain.review.models import BugReview
from bot.services.history.backfill import CostLimit
from bot.services.review.conversation import ReviewCost
from bot.services.review.reviewer import ReviewResult
from bot.services.risk.evaluation import MergeHistory
from bot.services.risk.paired_reading import PairReader, ReviewCallback
from tests.helpers.builders import pull

MODEL = "claude-sonnet-5-5"
PAIRS = tuple(MatchedPair(pull(number), pull(number + 1)) for number in range(1, 13, 2))
HISTORY = MergeHistory(
    EvaluationSource("octo/engine", "main", datetime(2025, 1, 1, tzinfo=UTC).date()),
    (),
    FileHistory((), (), DEFAULT_PATH_CLASSES),
    {},
    (),
    datetime(2026, 1, 1, tzinfo=UTC),
)
USAGE = Usage(cache_write=10_000, output=1_000)
PRICE = CLAUDE.prices.cost(MODEL, USAGE) or 0.0


def give(pull: PullRequest) -> PullRequest:
    return pull


def charge(_pull: PullRequest, cost: ReviewCost) -> ReviewResult:
    cost.add_turn(USAGE)
    return ReviewResult(BugReview())


def failing(error: Exception, *numbers: int) -> ReviewCallback:
    def review(pull: PullRequest, cost: ReviewCost) -> ReviewResult:
        cost.add_turn(USAGE)
        if not numbers or pull.number in numbers:
            raise error
        return ReviewResult(BugReview(), recognised=True)

    return review


def read(
    review: ReviewCallback, limit: float = 100.0, load: Callable[[PullRequest], PullRequest] = give
) -> dict[int, tuple[str, float | None]]:
    """The problem and the cost of each merge's reading; one at a time."""
    reader = PairReader(load, review, lambda _: ReviewCost(MODEL, CLAUDE.prices), 1)
    shown: list[tuple[int, int]] = []
    read = reader.read_pairs(PAIRS, HISTORY, CostLimit(limit), lambda done, total: shown.append((done, total)))
    assert shown == [(done, 12) for done in range(1, 13)]
    assert [pair.pair for pair in read] == list(PAIRS)
    return {number: (reading.problem, reading.cost) for pair in read for number, reading in pair.readings}


def test_each_merge_is_read_and_counted() -> None:
    assert PRICE > 0
    assert set(read(charge).values()) == {("", PRICE)}


def test_the_limit_ends_the_readings_with_a_whole_pair_where_it_can() -> None:
    readings = read(charge, limit=3.5 * PRICE)
    assert [problem for problem, _ in readings.values()][:4] == [""] * 4
    rest = set(list(readings.values())[4:])
    assert rest == {(f"not read, as the limit of ${3.5 * PRICE:.2f} is reached", 0.0)}


def test_one_failure_ends_nothing_and_five_in_a_row_do() -> None:
    some = read(failing(ModelAnswerInvalid("the report was not usable."), 1, 2, 3, 4, 6, 7))
    assert [number for number, (problem, _) in some.items() if problem] == [1, 2, 3, 4, 6, 7]
    assert some[1] == ("the report was not usable", PRICE)
    every = read(failing(ModelAnswerInvalid("no")))
    assert [every[number] for number in (5, 6, 12)] == [
        ("no", PRICE),
        ("not read, as 5 readings in a row failed", 0.0),
        ("not read, as 5 readings in a row failed", 0.0),
    ]


def test_a_merge_that_can_not_be_loaded_costs_nothing() -> None:
    def load(pull: PullRequest) -> PullRequest:
        if pull.number == 3:
            raise SourceUnavailable("The clone of octo/engine does not have that commit.")
        return pull

    readings = read(charge, load=load)
    assert readings[3] == ("The clone of octo/engine does not have that commit", 0.0)
    assert readings[4] == ("", PRICE)


def test_a_store_that_is_away_is_no_result() -> None:
    with pytest.raises(StoreUnavailable):
        read(failing(StoreUnavailable("The store is away."), 3))
