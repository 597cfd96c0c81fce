"""``prdigest backfill --batch``: half the price, each batch paid for once, also if a process died."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis import Redis

from bot.adapters.models.claude import CLAUDE
from bot.adapters.redis import RedisBatchStore, RedisCostLedger, RedisHistoryStore
from bot.cli import run_cli
from bot.domain.errors import PrdigestError, UsageError
from bot.domain.operations.batch import PendingBatch, hash_fingerprints
from bot.domain.operations.ledger import CallKind, CostTotals, sum_days
from bot.domain.operations.usage import Usage
from bot.services.history.backfill import BackfillAborted
from tests.emulators.claude.server import Json, Refusal, Text, summary_answer
from tests.emulators.github.store import changed_file, pull
from tests.helpers.builders import NOON, REPOSITORY
from tests.helpers.checks import eventually, is_one_sentence
from tests.helpers.processes.command import start_fork
from tests.helpers.world import World, world

pytestmark = pytest.mark.slow

DAYS = ("--repo=octo/engine", "--since=2026-02-26", "--until=2026-02-28", "--timezone=America/Los_Angeles")
FILLED = "octo/engine, 2026-02-26..2026-02-28 in America/Los_Angeles: 3 days: "
MODEL = "claude-haiku-5-5"


@pytest.fixture
def there(store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Two pull requests on each of three days, and the settings that lead there."""
    store.ping()
    with world(store_url) as made:
        for name, value in made.settings.items():
            monkeypatch.setenv(name, value)
        for number in range(1, 7):
            at = NOON - timedelta(days=(number - 1) // 2, minutes=number)
            made.github.add("octo/engine", pull(number, merged_at=at, files=[changed_file(f"of/{number}.py")]))
        yield made
        assert made.claude.problems == []


def totals(store: Redis) -> CostTotals:
    today = datetime.now(UTC).date()
    return sum_days(RedisCostLedger(store).read_days([today - timedelta(days=1), today]))


def sizes(there: World) -> list[int]:
    """How many requests each batch had."""
    return [len(batch.requests) for batch in there.claude.batches.made]


def waiting(store: Redis) -> PendingBatch | None:
    return RedisBatchStore(store).load("octo/engine")


def fill(*arguments: str) -> None:
    run_cli(["backfill", *DAYS, "--batch", *arguments])


class TestFilling:
    def test_all_days_are_one_batch_and_the_days_are_filled(
        self, there: World, store: Redis, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fill()
        assert capsys.readouterr().out == f"{FILLED}3 filled\nread: 6 pull requests, $0.00\n"
        assert (sizes(there), len(there.claude.requests)) == ([6], 6)
        assert waiting(store) is None
        known = RedisHistoryStore(store).read_merges(
            REPOSITORY, NOON - timedelta(days=9), NOON + timedelta(days=9)
        )
        assert sorted(each.number for each in known) == [1, 2, 3, 4, 5, 6]

    def test_the_ledger_has_every_token_at_half_the_price(self, there: World, store: Redis) -> None:
        fill()
        ledger_totals, used = totals(store), there.claude.usages
        assert set(ledger_totals.by_kind) == {CallKind.BATCH}
        assert (ledger_totals.total.calls, ledger_totals.total.usage.input) == (
            6,
            sum(each["input_tokens"] for each in used),
        )
        single = [
            CLAUDE.prices.cautious_cost(MODEL, Usage(input=each["input_tokens"], output=each["output_tokens"]))
            for each in used
        ]
        assert ledger_totals.total.dollars == pytest.approx(sum(single) / 2, abs=2e-6)

    def test_later_runs_and_digests_take_the_summaries_from_the_cache(
        self, there: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fill()
        fill()
        run_cli(["backfill", *DAYS])
        assert capsys.readouterr().out.count("0 filled, 3 loaded before") == 2
        assert (sizes(there), len(there.claude.requests)) == ([6], 6)

    def test_what_expired_or_failed_is_submitted_again_and_alone(self, there: World) -> None:
        there.claude.batches.fates.extend(["expired", "errored", "canceled"])
        fill()
        assert sizes(there) == [6, 3]
        assert len(set(there.claude.batches.list_paid())) == len(list(there.claude.batches.list_paid())) == 6

    def test_an_answer_that_is_no_summary_is_asked_for_again(self, there: World) -> None:
        there.claude.script(Json({"headline": "x"}, lenient=True))
        fill()
        assert sizes(there) == [6, 1]

    def test_what_never_succeeds_is_reported_by_its_number(
        self, there: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        there.claude.respond = lambda body: Text("I can't.") if "of/4.py" in str(body) else Json(summary_answer())
        with pytest.raises(PrdigestError, match="1 day could not be loaded"):
            fill()
        assert "2026-02-27: without a summary: #4" in capsys.readouterr().out
        assert sizes(there) == [6, 1, 1], "three attempts in all"

    def test_a_refusal_is_paid_for_and_not_asked_for_again(
        self, there: World, store: Redis, capsys: pytest.CaptureFixture[str]
    ) -> None:
        there.claude.script(Refusal())
        with pytest.raises(PrdigestError):
            fill()
        assert "without a summary: #" in capsys.readouterr().out
        assert (sizes(there), totals(store).total.calls) == ([6], 6)

    def test_a_limit_holds_for_what_is_submitted(
        self, there: World, store: Redis, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(BackfillAborted, match="The limit of ") as caught:
            fill("--max-cost", "0.0001")
        assert is_one_sentence(str(caught.value).replace("$0.00", ""))
        assert (sizes(there), totals(store).total.calls) == ([], 0)

    def test_facts_and_batches_exclude_each_other(self, there: World) -> None:
        with pytest.raises(UsageError, match="choose one"):
            fill("--facts")

    def test_a_provider_without_batches_is_named(self, there: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PRDIGEST_MODEL_PROVIDER", "bedrock")
        monkeypatch.setenv("PRDIGEST_MODEL_REGION", "us-east-1")
        with pytest.raises(UsageError, match="Claude on Bedrock takes no message batches") as caught:
            fill()
        assert is_one_sentence(str(caught.value))
        assert there.github.calls == []


class TestResuming:
    """What another run finds. The emulator has the batch; what the store has differs."""

    def test_kill_9_while_it_waits_and_the_batch_is_paid_for_once(
        self, there: World, store: Redis, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        there.claude.batches.is_held = True
        process = start_fork("backfill", *DAYS, "--batch", settings=there.settings, folder=tmp_path)
        try:
            eventually(lambda: (waiting(store) or EMPTY).name)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(10)
        there.claude.batches.is_held = False
        fill()
        assert sizes(there) == [6]
        assert len(there.claude.requests) == 6
        assert totals(store).total.calls == 6
        assert f"{FILLED}3 filled" in capsys.readouterr().out
        assert waiting(store) is None

    def test_a_batch_whose_id_was_never_learned_is_found_at_the_provider(self, there: World, store: Redis) -> None:
        fill()
        forget_everything_but_the_intention(there, store)
        fill()
        assert (sizes(there), len(there.claude.requests)) == ([6], 6)
        assert waiting(store) is None

    def test_another_batch_of_the_same_size_is_not_taken_for_it(self, there: World, store: Redis) -> None:
        fill()
        forget_everything_but_the_intention(there, store, content="of other prompts")
        fill()
        assert sizes(there) == [6, 6]

    def test_an_intention_without_a_batch_is_submitted(self, there: World, store: Redis) -> None:
        RedisBatchStore(store).save("octo/engine", PendingBatch(datetime.now(UTC), MODEL, 6, "x"))
        fill()
        assert sizes(there) == [6]

    def test_a_batch_that_the_provider_forgot_is_submitted_again(self, there: World, store: Redis) -> None:
        pending = PendingBatch(datetime.now(UTC), MODEL, 6, "x", "msgbatch_gone")
        RedisBatchStore(store).save("octo/engine", pending)
        fill()
        assert sizes(there) == [6]


EMPTY = PendingBatch(NOON, MODEL, 0, "")


def forget_everything_but_the_intention(there: World, store: Redis, content: str = "") -> None:
    """Leave what a process leaves that died between the provider's answer and its next write."""
    (batch,) = there.claude.batches.made
    for key in store.scan_iter("*"):
        store.delete(key)
    known = content or hash_fingerprints(each["custom_id"] for each in batch.requests)
    RedisBatchStore(store).save("octo/engine", PendingBatch(batch.created, MODEL, len(batch.requests), known))
