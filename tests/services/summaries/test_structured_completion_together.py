"""Many who ask the same at once, in threads and in processes: one call to the model."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from redis import Redis

from bot.domain.errors import ModelError, ModelRefusal
from bot.platform.store.connection import RedisCache
from bot.ports import Model
from bot.services.summaries.schemas import SummaryAnswer
from bot.services.summaries.structured_completion import StructuredAnswer, StructuredCompletion
from tests.emulators.claude.server import ClaudeEmulator, Failure, Json, Refusal, Text, summary_answer
from tests.helpers.processes.command import Caught
from tests.services.doubles import Sleeps
from tests.services.summaries.test_structured_completion import PROMPT


def ask(model: Model, cache: RedisCache, sleeps: Sleeps | None = None) -> StructuredAnswer[SummaryAnswer]:
    return StructuredCompletion(model, cache, Sleeps() if sleeps is None else sleeps).request_answer(
        PROMPT, SummaryAnswer
    )


@pytest.mark.slow
def test_twenty_threads_that_ask_the_same_make_one_call(
    claude: ClaudeEmulator, model: Model, cache: RedisCache
) -> None:
    claude.latency = 0.2
    with ThreadPoolExecutor(20) as pool:
        completions = list(pool.map(lambda _: ask(model, cache), range(20)))
    assert len(claude.requests) == 1
    assert len({each.value.headline for each in completions}) == 1
    assert sum(not each.from_cache for each in completions) == 1
    assert sum(each.usage.output > 0 for each in completions) == 1


@pytest.mark.slow
def test_threads_that_ask_different_things_do_not_wait_for_each_other(
    claude: ClaudeEmulator, model: Model, cache: RedisCache
) -> None:
    claude.latency = 0.3
    asker = StructuredCompletion(model, cache, Sleeps())
    prompts = [replace(PROMPT, user=f"What changed in {n}?") for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda prompt: asker.request_answer(prompt, SummaryAnswer), prompts))
    assert (len(claude.requests), claude.in_flight_peak > 1) == (8, True)


@pytest.mark.slow
def test_two_processes_that_ask_the_same_make_one_call(
    claude: ClaudeEmulator, store: Redis, store_url: str, tmp_path: Path
) -> None:
    store.ping()
    claude.latency = 1.0
    claude.script(Json(summary_answer(headline="from the one call")))
    asked = (claude.url, store_url, json.dumps(asdict(PROMPT)))
    processes = [
        Caught(*asked, settings={}, folder=tmp_path, module="tests.services.summaries.asking_process")
        for _ in range(2)
    ]
    outputs = [process.await_end(timeout=30).stdout for process in processes]
    assert outputs == ["from the one call\n"] * 2
    assert len(claude.requests) == 1


@pytest.mark.slow
def test_those_who_waited_for_a_failure_ask_themselves(
    claude: ClaudeEmulator, model: Model, cache: RedisCache
) -> None:
    claude.latency = 0.1
    claude.script(Refusal())

    def outcome(_: int) -> str:
        try:
            return ask(model, cache).value.headline
        except ModelRefusal:
            return "refused"

    with ThreadPoolExecutor(3) as pool:
        headlines = list(pool.map(outcome, range(3)))
    assert (headlines.count("refused"), len(set(headlines))) == (1, 2)
    assert len(claude.requests) == 2


def test_an_answer_is_kept_for_ninety_days(model: Model, cache: RedisCache, store: Redis) -> None:
    ask(model, cache)
    (key,) = store.scan_iter()
    assert key.startswith(b"llm:")
    assert 89 < int(str(store.ttl(key))) / 86_400 <= 90


def test_a_busy_service_is_given_its_pause(claude: ClaudeEmulator, model: Model, cache: RedisCache) -> None:
    claude.script(Failure(429, "rate_limit_error", retry_after=5), Failure(529, "overloaded_error"))
    sleeps = Sleeps()
    assert not ask(model, cache, sleeps).from_cache
    assert sleeps == [5.0, 2.0]


@pytest.mark.parametrize("step", [Text("no JSON"), Json({"type": "TRIVIAL"}, lenient=True)])
def test_the_service_is_told_what_was_wrong(
    claude: ClaudeEmulator, model: Model, cache: RedisCache, step: Text | Json
) -> None:
    claude.script(step)
    ask(model, cache)
    first, second = (body["messages"][0]["content"] for body in claude.requests)
    assert second.startswith(first)
    assert "refused" in second[len(first) :]
    assert claude.problems == []


def test_an_answer_cut_by_the_service_gets_twice_the_room(
    claude: ClaudeEmulator, model: Model, cache: RedisCache
) -> None:
    claude.respond = lambda body: Json(summary_answer(key_insights="x" * 2_900))
    asker = StructuredCompletion(model, cache, Sleeps())
    asker.request_answer(replace(PROMPT, max_tokens=500), SummaryAnswer)
    assert [body["max_tokens"] for body in claude.requests] == [500, 1_000]


def test_a_refused_key_is_asked_once_and_not_shown(
    claude: ClaudeEmulator, model: Model, cache: RedisCache
) -> None:
    claude.api_key = "another"
    with pytest.raises(ModelError, match="API key or credentials were rejected") as caught:
        ask(model, cache)
    assert "sk-ant" not in str(caught.value)


@pytest.mark.slow
def test_waiting_for_another_ones_answer_takes_no_longer_than_its_call(
    claude: ClaudeEmulator, model: Model, cache: RedisCache
) -> None:
    claude.latency = 0.3
    begun = time.monotonic()
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda _: ask(model, cache), range(5)))
    assert time.monotonic() - begun < 10
