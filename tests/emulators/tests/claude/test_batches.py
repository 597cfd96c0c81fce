"""Message batches of the Claude emulator, through the SDK that the product uses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic

from tests.emulators.claude.batches import REQUEST_LIMIT, SIZE_LIMIT, check_size
from tests.emulators.claude.errors import Rejected
from tests.emulators.claude.questions import HELLO, MODEL
from tests.emulators.claude.server import ClaudeEmulator, Failure, Text


def entry(name: str, **overrides: Any) -> Any:
    return {"custom_id": name, "params": {"model": MODEL, "max_tokens": 50, "messages": HELLO, **overrides}}


def types_of(sdk: Anthropic, name: str) -> dict[str, str]:
    return {each.custom_id: each.result.type for each in sdk.messages.batches.results(name)}


def test_results_come_by_their_names_in_another_order(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.respond = lambda body: Text(f"You said {body['messages'][0]['content']}")
    names = [f"n{number}" for number in range(12)]
    asked = [entry(name, messages=[{"role": "user", "content": name}]) for name in names]
    batch = sdk.messages.batches.create(requests=asked)
    results = list(sdk.messages.batches.results(batch.id))
    assert {each.custom_id for each in results} == set(names)
    assert [each.custom_id for each in results] != names
    for each in results:
        assert each.result.type == "succeeded"
        (text,) = [block.text for block in each.result.message.content if block.type == "text"]
        assert text == f"You said {each.custom_id}"
        assert each.result.message.usage.output_tokens > 0
    status = sdk.messages.batches.retrieve(batch.id)
    assert (status.processing_status, status.request_counts.succeeded) == ("ended", 12)


def test_there_are_no_results_before_its_end(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.batches.is_held = True
    batch = sdk.messages.batches.create(requests=[entry("a")])
    assert (batch.processing_status, batch.request_counts.processing, batch.results_url) == (
        "in_progress",
        1,
        None,
    )
    with pytest.raises(anthropic.AnthropicError, match="Has it finished"):
        sdk.messages.batches.results(batch.id)
    with pytest.raises(anthropic.NotFoundError):
        sdk.get(f"/v1/messages/batches/{batch.id}/results", cast_to=object)
    claude.batches.is_held = False
    assert types_of(sdk, batch.id) == {"a": "succeeded"}


def test_what_is_wrong_with_one_request_is_its_own_result(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    wrong = entry("wrong", max_tokens=0)
    streamed = entry("streamed", stream=True)
    batch = sdk.messages.batches.create(requests=[wrong, entry("right"), streamed])
    assert types_of(sdk, batch.id) == {"wrong": "errored", "right": "succeeded", "streamed": "errored"}
    claude.script(Failure(529, "overloaded_error"))
    claude.batches.fates.extend(["expired", "errored", ""])
    again = sdk.messages.batches.create(requests=[entry("a"), entry("b"), entry("c"), entry("d")])
    assert list(types_of(sdk, again.id).values()) == ["expired", "errored", "errored", "succeeded"]
    counts = sdk.messages.batches.retrieve(again.id).request_counts
    assert (counts.expired, counts.errored, counts.succeeded) == (1, 2, 1)


def test_a_canceled_batch_ends_without_answers(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    claude.batches.is_held = True
    batch = sdk.messages.batches.create(requests=[entry("a")])
    assert sdk.messages.batches.cancel(batch.id).cancel_initiated_at is not None
    assert types_of(sdk, batch.id) == {"a": "canceled"}
    assert claude.requests == []


def test_after_a_day_what_is_not_answered_expires_and_results_go_after_29_days(
    sdk: Anthropic, claude: ClaudeEmulator
) -> None:
    clock = [datetime(2026, 3, 1, tzinfo=UTC)]
    claude.batches.now = lambda: clock[0]
    claude.batches.is_held = True
    batch = sdk.messages.batches.create(requests=[entry("a")])
    clock[0] += timedelta(hours=24)
    assert types_of(sdk, batch.id) == {"a": "expired"}
    clock[0] += timedelta(days=28)
    gone = sdk.messages.batches.retrieve(batch.id)
    assert (gone.results_url, gone.archived_at is not None) == (None, True)
    with pytest.raises(anthropic.NotFoundError):
        sdk.get(f"/v1/messages/batches/{batch.id}/results", cast_to=object)


def test_batches_are_listed_newest_first_in_pages(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    made = [sdk.messages.batches.create(requests=[entry("a")]).id for _ in range(5)]
    assert [each.id for each in sdk.messages.batches.list(limit=2)] == made[::-1]


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ([], "at least one request"),
        ([entry("a"), entry("a")], "custom_id a is not unique"),
        ([entry("")], "custom_id"),
        ([entry("a b")], "custom_id"),
        ([entry("x" * 65)], "custom_id"),
        ([entry("ä")], "custom_id"),
        ([{"custom_id": "a"}], "params"),
    ],
    ids=["none", "twice", "empty", "blank", "long", "letter", "no params"],
)
def test_a_wrong_batch_is_refused(strict: Anthropic, requests: list[Any], message: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=message):
        strict.messages.batches.create(requests=requests)


def test_a_batch_may_have_100_000_requests(strict: Anthropic) -> None:
    # as they are: the types of the SDK take ten seconds for so many
    body = {"requests": [{"custom_id": "a", "params": {}}] * (REQUEST_LIMIT + 1)}
    with pytest.raises(anthropic.BadRequestError, match="at most 100000"):
        strict.post("/v1/messages/batches", body=body, cast_to=object)


def test_a_body_may_have_256_megabytes() -> None:
    check_size(SIZE_LIMIT)
    with pytest.raises(Rejected, match="maximum size"):
        check_size(SIZE_LIMIT + 1)


def test_another_key_is_refused_and_an_unknown_batch_is_not_found(sdk: Anthropic, claude: ClaudeEmulator) -> None:
    with pytest.raises(anthropic.NotFoundError):
        sdk.messages.batches.retrieve("msgbatch_none")
    with (
        Anthropic(base_url=claude.url, api_key="wrong", max_retries=0) as other,
        pytest.raises(anthropic.AuthenticationError),
    ):
        other.messages.batches.list()
