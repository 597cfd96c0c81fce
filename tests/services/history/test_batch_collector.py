"""What is collected for a batch: each prompt once, within the money and the room that there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from bot.adapters.models.claude import CLAUDE
from bot.domain.errors import ModelAnswerInvalid, ModelRefusal, ModelRequestRejected
from bot.domain.operations.usage import Usage
from bot.domain.time.date_range import Span
from bot.ports import Prompt
from bot.services.history.backfill import BackfillAborted, CostLimit
from bot.services.history.batch_backfill import BatchBackfill
from bot.services.history.batch_collector import BatchCollector, CollectionFull
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.checks import is_one_sentence

MODEL = "claude-haiku-5-5"
# no characters but those of the schema; its answer has up to 1,000 tokens
PROMPT = Prompt(MODEL, "v1", "", "x" * 3_000_000, {}, 1_000)
# 1,000,000 tokens and a bit, and 1,000, at half of five times the price, as it is long
MOST = 0.5 * CLAUDE.prices.cautious_cost(MODEL, Usage(input=1_000_000, output=1_000))


def prompts(count: int) -> list[Prompt]:
    return [replace(PROMPT, user=f"{number}", version="v2") for number in range(count)]


def collect(collector: BatchCollector, asked: Sequence[Prompt]) -> list[str]:
    """Ask for each prompt; why there is no answer."""
    reasons = []
    for prompt in asked:
        with pytest.raises(ModelRequestRejected) as caught:
            collector.complete(prompt)
        reasons.append(str(caught.value))
    return reasons


def test_each_prompt_is_collected_once_whoever_asks_for_it() -> None:
    collector = BatchCollector(CLAUDE.prices, CostLimit(5.0))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: collect(collector, prompts(50)), range(4)))
    assert sorted(each.user for each in collector.take_prompts()) == sorted(each.user for each in prompts(50))
    assert collector.take_prompts() == ()


@pytest.mark.slow
@pytest.mark.parametrize(("dollars", "room"), [(0.0, 0), (0.9 * MOST, 0), (1.1 * MOST, 1), (2.1 * MOST, 2)])
def test_what_could_cost_more_than_the_limit_is_not_collected(dollars: float, room: int) -> None:
    collector = BatchCollector(CLAUDE.prices, CostLimit(dollars))
    asked = [replace(PROMPT, version=f"v{number}") for number in range(3)]
    collect(collector, asked[:room])
    with pytest.raises(CollectionFull):
        collector.complete(asked[room])
    assert len(collector.take_prompts()) == room


@pytest.mark.slow
def test_what_was_really_spent_counts_before_the_next_batch() -> None:
    limit = CostLimit(2.1 * MOST)
    collector = BatchCollector(CLAUDE.prices, limit)
    collect(collector, [replace(PROMPT, version=version) for version in ("a", "b")])
    collector.take_prompts()
    limit.spent = 1.5 * MOST
    with pytest.raises(CollectionFull):
        collector.complete(replace(PROMPT, version="c"))
    limit.spent = 0.5 * MOST
    collect(collector, [replace(PROMPT, version="c")])


@pytest.mark.slow
def test_a_batch_has_room_for_what_memory_can_hold() -> None:
    collector = BatchCollector(CLAUDE.prices, CostLimit(1_000.0))
    collect(collector, prompts(5_000))
    with pytest.raises(CollectionFull):
        collector.complete(replace(PROMPT, user="one more"))
    assert len(collector.take_prompts()) == 5_000
    large = [replace(PROMPT, version=f"v{number}") for number in range(21)]
    collect(collector, large)
    with pytest.raises(CollectionFull):
        collector.complete(replace(PROMPT, version="v21"))


def test_a_refusal_is_final_and_other_failures_are_after_three_attempts() -> None:
    collector = BatchCollector(CLAUDE.prices, CostLimit(5.0))
    refused, unusable = prompts(2)
    for attempt in range(1, 4):
        collect(collector, [refused, unusable])
        open_prompts = collector.take_prompts()
        assert open_prompts == ((refused, unusable) if attempt == 1 else (unusable,))
        collector.note_failures(
            {
                refused.fingerprint: (ModelRefusal("the model declined"), False),
                unusable.fingerprint: (ModelAnswerInvalid("it can't be used"), True),
            }
        )
    assert collect(collector, [refused, unusable]) == ["the model declined", "it can't be used"]
    assert collector.take_prompts() == ()


class Occupied:
    """A runner whose batches another process runs."""

    @contextmanager
    def try_lock(self, repository: str) -> Iterator[bool]:
        assert repository == "octo/engine"
        yield False


def test_a_second_process_is_kept_out() -> None:
    nobody: Any = None
    backfill = BatchBackfill(nobody, nobody, cast("Any", Occupied()), CostLimit(1.0))
    with pytest.raises(BackfillAborted, match="Another process") as caught:
        list(backfill.fill_days(REPOSITORY, Span(DAY.date, DAY.date, DAY.zone), lambda _: None))
    assert is_one_sentence(str(caught.value))
