import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from redis import Redis

from bot.errors import ModelError, ModelRefusal
from bot.features.summaries.reading import SummaryAnswer
from bot.platform.models import Model, Prompt
from bot.platform.models.completion import StructuredAnswer, request_answer
from tests.emulators.claude.server import ClaudeEmulator, Failure, Json, Refusal, Text, summary_answer
from tests.helpers.apps import make_app
from tests.helpers.doubles import Sleeps
from tests.helpers.processes.command import Caught
from tests.platform.models.test_completion import PROMPT


def ask(
    model: Model, store: Redis, sleeps: Sleeps | None = None, prompt: Prompt = PROMPT
) -> StructuredAnswer[SummaryAnswer]:
    app = make_app(store)
    app.sleep = Sleeps() if sleeps is None else sleeps
    return request_answer(app, model, prompt, SummaryAnswer)


@pytest.mark.slow
def test_twenty_threads_that_ask_the_same_make_one_call(
    claude: ClaudeEmulator, model: Model, store: Redis
) -> None:
    claude.latency = 0.2
    with ThreadPoolExecutor(20) as pool:
        completions = list(pool.map(lambda _: ask(model, store), range(20)))
    assert len(claude.requests) == 1
    assert len({each.value.headline for each in completions}) == 1
    assert sum(not each.from_cache for each in completions) == 1
    assert sum(each.usage.output > 0 for each in completions) == 1


@pytest.mark.slow
def test_threads_that_ask_different_things_do_not_wait_for_each_other(
    claude: ClaudeEmulator, model: Model, store: Redis
) -> None:
    claude.latency = 0.3
    prompts = [replace(PROMPT, user=f"What changed in {n}?") for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda prompt: ask(model, store, prompt=prompt), prompts))
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
        Caught(*asked, settings={}, folder=tmp_path, module="tests.platform.models.asking_process")
        for _ in range(2)
    ]
    outputs = [process.await_end(timeout=30).stdout for process in processes]
    assert outputs == ["from the one call\n"] * 2
    assert len(claude.requests) == 1


@pytest.mark.slow
def test_those_who_waited_for_a_failure_ask_themselves(claude: ClaudeEmulator, model: Model, store: Redis) -> None:
    claude.latency = 0.1
    claude.script(Refusal())

    def outcome(_: int) -> str:
        try:
            return ask(model, store).value.headline
        except ModelRefusal:
            return "refused"

    with ThreadPoolExecutor(3) as pool:
        headlines = list(pool.map(outcome, range(3)))
    assert (headlines.count("refused"), len(set(headlines))) == (1, 2)
    assert len(claude.requests) == 2


def test_an_answer_is_kept_for_ninety_days(model: Model, store: Redis) -> None:
    ask(model, store)
    (key,) = store.scan_iter()
    assert key.startswith(b"llm:")
    assert 89 < int(str(store.ttl(key))) / 86_400 <= 90


def test_a_busy_service_is_given_its_pause(claude: ClaudeEmulator, model: Model, store: Redis) -> None:
    claude.script(Failure(429, "rate_limit_error", retry_after=5), Failure(529, "overloaded_error"))
    sleeps = Sleeps()
    assert not ask(model, store, sleeps).from_cache
    assert sleeps == [5.0, 2.0]


@pytest.mark.parametrize("step", [Text("no JSON"), Json({"type": "TRIVIAL"}, lenient=True)])
def test_the_service_is_told_what_was_wrong(
    claude: ClaudeEmulator, model: Model, store: Redis, step: Text | Json
) -> None:
    claude.script(step)
    ask(model, store)
    first, second = (body["messages"][0]["content"] for body in claude.requests)
    assert second.startswith(first)
    assert "refused" in second[len(first) :]
    assert claude.problems == []


def test_an_answer_cut_by_the_service_gets_twice_the_room(
    claude: ClaudeEmulator, model: Model, store: Redis
) -> None:
    claude.respond = lambda body: Json(summary_answer(key_insights="x" * 2_900))
    ask(model, store, prompt=replace(PROMPT, max_tokens=500))
    assert [body["max_tokens"] for body in claude.requests] == [500, 1_000]


def test_a_refused_key_is_asked_once_and_not_shown(claude: ClaudeEmulator, model: Model, store: Redis) -> None:
    claude.api_key = "another"
    with pytest.raises(ModelError, match="API key or credentials were rejected") as caught:
        ask(model, store)
    assert "sk-ant" not in str(caught.value)


@pytest.mark.slow
def test_waiting_for_another_ones_answer_takes_no_longer_than_its_call(
    claude: ClaudeEmulator, model: Model, store: Redis
) -> None:
    claude.latency = 0.3
    begun = time.monotonic()
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda _: ask(model, store), range(5)))
    assert time.monotonic() - begun < 10
