"""Claude's message batches in the words of the domain: what becomes of each result, and of each failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from localslack.loopback import Loopback, Request, Response

from bot.adapters.models.claude import CLAUDE
from bot.domain.errors import ModelAnswerTruncated, ModelBusy, ModelError, ModelRefusal, ModelRequestRejected
from bot.ports import Completion, ModelAccess, ModelBatches, Prompt
from bot.services.summaries.schemas import SummaryAnswer, build_schema
from tests.adapters.worlds import WebPage
from tests.emulators.claude.server import ClaudeEmulator, Failure, Json, Refusal, Truncated, summary_answer
from tests.helpers.checks import closed_port

KEY = "sk-ant-test"
PROMPT = Prompt("claude-haiku-5-5", "v1", "Be brief.", "What changed? " * 20, build_schema(SummaryAnswer), 1_000)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@contextmanager
def batches_at(url: str, key: str = KEY) -> Iterator[ModelBatches]:
    assert CLAUDE.connect_batches
    with closing(CLAUDE.connect_batches(ModelAccess(key, url))) as batches:
        yield batches


@pytest.fixture
def batches(claude: ClaudeEmulator) -> Iterator[ModelBatches]:
    with batches_at(claude.url) as made:
        yield made


def prompts(count: int) -> list[Prompt]:
    return [replace(PROMPT, user=f"What changed in {number}?") for number in range(count)]


def test_each_prompt_gets_its_answer_by_its_fingerprint(batches: ModelBatches, claude: ClaudeEmulator) -> None:
    claude.respond = lambda body: Json(summary_answer(headline=body["messages"][0]["content"]))
    asked = prompts(5)
    status = batches.submit_prompts(asked)
    assert (status.count, status.done, status.is_over) == (5, 0, False)
    outcomes = {each.fingerprint: each.outcome for each in batches.iterate_results(status.name)}
    for prompt in asked:
        outcome = outcomes[prompt.fingerprint]
        assert isinstance(outcome, Completion)
        assert prompt.user in outcome.text
        assert outcome.usage.output > 0
    over = batches.get_status(status.name)
    assert over
    assert (over.done, over.is_over) == (5, True)


def test_a_request_in_a_batch_is_the_same_as_a_single_one(batches: ModelBatches, claude: ClaudeEmulator) -> None:
    assert claude.batches.made == []
    with closing(CLAUDE.connect(ModelAccess(KEY, claude.url))) as single:
        single.complete(PROMPT)
    status = batches.submit_prompts([PROMPT])
    list(batches.iterate_results(status.name))
    first, second = claude.requests
    assert first == second


RESULTS: dict[str, tuple[Callable[[ClaudeEmulator], object], type[ModelError], bool]] = {
    "a refusal": (lambda claude: claude.script(Refusal()), ModelRefusal, False),
    "cut": (lambda claude: claude.script(Truncated("{")), ModelAnswerTruncated, False),
    "overloaded": (lambda claude: claude.script(Failure(529, "overloaded_error")), ModelRequestRejected, True),
    "wrong": (lambda claude: claude.script(Failure(400, "invalid_request_error")), ModelRequestRejected, False),
    "errored": (lambda claude: claude.batches.fates.append("errored"), ModelRequestRejected, True),
    "expired": (lambda claude: claude.batches.fates.append("expired"), ModelBusy, True),
    "canceled": (lambda claude: claude.batches.fates.append("canceled"), ModelBusy, True),
}


@pytest.mark.parametrize(("arrange", "error", "may_repeat"), RESULTS.values(), ids=RESULTS)
def test_a_result_without_an_answer_says_whether_another_attempt_makes_sense(
    batches: ModelBatches,
    claude: ClaudeEmulator,
    arrange: Callable[[ClaudeEmulator], object],
    error: type[ModelError],
    may_repeat: bool,
) -> None:
    arrange(claude)
    (result,) = batches.iterate_results(batches.submit_prompts([PROMPT]).name)
    assert (type(result.outcome), result.may_repeat) == (error, may_repeat)


def test_batches_are_found_by_the_time_of_their_creation(batches: ModelBatches) -> None:
    made = [batches.submit_prompts(prompts(count)).name for count in (1, 2, 3)]
    assert [each.name for each in batches.list_since(LONG_AGO)] == made[::-1]
    assert [each.count for each in batches.list_since(LONG_AGO)] == [3, 2, 1]
    assert batches.list_since(datetime.now(UTC) + timedelta(hours=1)) == []


@pytest.mark.slow
def test_more_batches_than_a_page_holds_are_found(batches: ModelBatches) -> None:
    for _ in range(101):
        batches.submit_prompts([PROMPT])
    assert len(batches.list_since(LONG_AGO)) == 101


def test_a_batch_that_is_not_there_is_none(batches: ModelBatches) -> None:
    assert batches.get_status("msgbatch_none") is None


CALLS: dict[str, Callable[[ModelBatches], Any]] = {
    "submit": lambda batches: batches.submit_prompts([PROMPT]),
    "list": lambda batches: batches.list_since(LONG_AGO),
    "status": lambda batches: batches.get_status("msgbatch_1"),
    "results": lambda batches: list(batches.iterate_results("msgbatch_1")),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_another_key_is_rejected(claude: ClaudeEmulator, call: Callable[[ModelBatches], Any]) -> None:
    with batches_at(claude.url, "sk-ant-wrong") as batches, pytest.raises(ModelRequestRejected, match="key"):
        call(batches)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_service_that_is_away_is_busy(call: Callable[[ModelBatches], Any]) -> None:
    with batches_at(f"http://127.0.0.1:{closed_port()}") as batches, pytest.raises(ModelBusy):
        call(batches)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_page_of_a_proxy_is_no_batch(call: Callable[[ModelBatches], Any]) -> None:
    with WebPage() as page, batches_at(page.url) as batches, pytest.raises(ModelError):
        call(batches)


class CutResults(Loopback):
    """A service whose results end in the middle of a line."""

    def handle(self, request: Request) -> Response:
        if request.path.endswith("/results"):
            return Response(200, b'{"custom_id": "a", "result": {"type": "expired"}}\n{"custom_id": "b", "resu')
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled"), 0) | {"expired": 2}
        times = dict.fromkeys(("created_at", "expires_at", "ended_at"), "2026-03-01T00:00:00Z")
        state = {"id": "msgbatch_1", "type": "message_batch", "processing_status": "ended", **times}
        address = {"results_url": f"{self.url}/v1/messages/batches/msgbatch_1/results"}
        return Response.of_json({**state, **address, "request_counts": counts})


def test_results_that_end_in_the_middle_are_none() -> None:
    with (
        CutResults() as service,
        batches_at(service.url) as batches,
        pytest.raises(ModelBusy, match="can't be read"),
    ):
        list(batches.iterate_results("msgbatch_1"))
