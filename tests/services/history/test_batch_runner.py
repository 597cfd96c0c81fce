"""A batch is paid for, kept and counted once, also if a process dies; and what a runner makes of the provider."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from redis import Redis

from bot.adapters.models.claude import CLAUDE
from bot.adapters.redis import RedisBatchStore, RedisCostLedger
from bot.domain.errors import ModelAnswerInvalid, ModelBusy
from bot.domain.operations.batch import PendingBatch
from bot.domain.operations.ledger import CostTotals, sum_days
from bot.ports import BatchStatus, ModelAccess, ModelBatches, Prompt
from bot.services.history.backfill import BackfillAborted
from bot.services.history.batch_runner import NO_BATCH, BatchClock, BatchReport, BatchRunner
from bot.services.summaries.schemas import SummaryAnswer, build_schema
from tests.emulators.claude.server import ClaudeEmulator
from tests.helpers.checks import is_one_sentence
from tests.services.digest.posting import Crash, Fragile, Fuse

MODEL = "claude-haiku-5-5"
DAY = date(2026, 3, 1)
NAME = "octo/engine"
PROMPTS = tuple(
    Prompt(MODEL, "v1", "Be brief.", f"What changed in {number}?", build_schema(SummaryAnswer), 1_000)
    for number in range(3)
)
ALL = {prompt.fingerprint for prompt in PROMPTS}


@dataclass
class Desk:
    """A runner over a real store and the emulated service, with a clock that only sleeping moves."""

    store: Redis
    batches: ModelBatches
    kept: set[str] = field(default_factory=set)
    progress_lines: list[str] = field(default_factory=list)
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    refused: str = ""

    def runner(self, fuse: Fuse | None = None) -> BatchRunner:
        fuse = fuse or Fuse()
        batches: Any = Fragile(self.batches, fuse)
        store: Any = Fragile(RedisBatchStore(self.store), fuse)
        clock = BatchClock(lambda: self.now, lambda: DAY, self.sleep)
        return BatchRunner(batches, store, Fragile(self, fuse).keep, CLAUDE.prices, clock)

    def keep(self, fingerprint: str, text: str) -> None:
        if fingerprint == self.refused:
            raise ModelAnswerInvalid("the model's answer can't be used")
        assert text
        self.kept.add(fingerprint)

    def sleep(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def run(self, fuse: Fuse | None = None) -> BatchReport:
        """What a backfill does: go on with what was begun, and submit what is still without an answer."""
        runner = self.runner(fuse)
        earlier = runner.resume_batch(NAME, self.progress_lines.append)
        missing = [prompt for prompt in PROMPTS if prompt.fingerprint not in self.kept]
        return runner.run_batch(NAME, missing, self.progress_lines.append) if missing else earlier

    def totals(self) -> CostTotals:
        return sum_days(RedisCostLedger(self.store).read_days([DAY]))


@pytest.fixture
def desk(store: Redis, claude: ClaudeEmulator) -> Iterator[Desk]:
    connect = CLAUDE.connect_batches
    assert connect
    with closing(connect(ModelAccess(claude.api_key, claude.url))) as batches:
        yield Desk(store, batches)
    assert claude.problems == []


def count_calls(desk: Desk) -> int:
    fuse = Fuse()
    desk.run(fuse)
    return len(fuse.calls)


# load, save, submit_prompts, save, get_status, iterate_results, keep three times, finish
CALLS = 10


def test_the_calls_are_those_that_the_crashes_below_are_about(desk: Desk) -> None:
    assert count_calls(desk) == CALLS
    assert desk.kept == ALL


@pytest.mark.slow
@pytest.mark.parametrize("with_effect", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, CALLS + 1))
def test_wherever_it_dies_the_batch_is_paid_for_and_counted_once(
    desk: Desk, claude: ClaudeEmulator, at: int, with_effect: bool
) -> None:
    with pytest.raises(Crash):
        desk.run(Fuse(at, with_effect))
    desk.run()
    assert len(claude.batches.made) == 1
    assert desk.kept == ALL
    assert desk.totals().total.calls == len(PROMPTS)
    assert RedisBatchStore(desk.store).load(NAME) is None
    assert desk.runner().resume_batch(NAME, desk.progress_lines.append) == NO_BATCH


def test_it_says_how_far_the_batch_is_and_waits_longer_and_longer(desk: Desk, claude: ClaudeEmulator) -> None:
    looks = 0

    def look(name: str) -> BatchStatus | None:
        nonlocal looks
        looks += 1
        claude.batches.is_held = looks < 9
        return status_of(name)

    claude.batches.is_held = True
    started, status_of = desk.now, desk.batches.get_status
    desk.batches.get_status = look  # type: ignore[method-assign]
    desk.run()
    assert desk.progress_lines == ["waiting for msgbatch_000001: 0 of 3 done"] * 8 + [""]
    # 1 + 1.5 + 2.25 + … for eight pauses
    assert (desk.now - started).total_seconds() == pytest.approx(49.26, abs=0.01)


class Away:
    """Batches of a service that was there for the submission, and is away since."""

    def __init__(self, batches: ModelBatches) -> None:
        self._batches = batches

    def submit_prompts(self, prompts: Sequence[Prompt]) -> BatchStatus:
        return self._batches.submit_prompts(prompts)

    def get_status(self, name: str) -> BatchStatus | None:
        raise ModelBusy("the model can't be reached")


def test_a_service_that_stays_away_ends_the_run_and_the_next_one_goes_on(
    desk: Desk, claude: ClaudeEmulator
) -> None:
    there: Any = desk.batches
    away: Any = Away(there)
    desk.batches = away
    with pytest.raises(BackfillAborted, match="run the same command again") as caught:
        desk.run()
    assert all(is_one_sentence(f"{part.strip('.')}.") for part in str(caught.value).split(". "))
    desk.batches = there
    desk.run()
    assert (len(claude.batches.made), desk.kept) == (1, ALL)


def test_a_batch_that_never_ends_is_given_up_after_26_hours(desk: Desk) -> None:
    started = desk.now
    held = BatchStatus("msgbatch_000001", started, len(PROMPTS), 0, is_over=False)
    desk.batches.get_status = lambda name: held  # type: ignore[method-assign]
    with pytest.raises(BackfillAborted, match="msgbatch_000001 is not over"):
        desk.run()
    assert timedelta(hours=26) <= desk.now - started < timedelta(hours=26, minutes=2)
    assert (RedisBatchStore(desk.store).load(NAME) or PendingBatch(desk.now, "", 0, "")).name == "msgbatch_000001"


def test_an_answer_that_can_not_be_used_may_be_asked_for_again_and_costs(desk: Desk) -> None:
    desk.refused = PROMPTS[1].fingerprint
    report = desk.runner().run_batch(NAME, PROMPTS, desk.progress_lines.append)
    ((error, may_repeat),) = report.failures.values()
    assert (set(report.failures), may_repeat) == ({desk.refused}, True)
    assert isinstance(error, ModelAnswerInvalid)
    assert report.dollars == pytest.approx(desk.totals().total.dollars, abs=1e-6)
    assert desk.totals().total.calls == len(PROMPTS)


def test_a_submission_that_is_refused_says_so(desk: Desk, claude: ClaudeEmulator) -> None:
    claude.api_key = "another"
    with pytest.raises(BackfillAborted, match="could not be submitted") as caught:
        desk.run()
    assert is_one_sentence(str(caught.value))
    claude.api_key = "sk-ant-test"
    desk.run()
    assert (len(claude.batches.made), desk.kept) == (1, ALL)
