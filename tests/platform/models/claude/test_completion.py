from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from anthropic import Anthropic

from bot.errors import ModelAnswerTruncated, ModelBusy, ModelError, ModelRefusal, ModelRequestRejected
from bot.features.digest.overview import OverviewAnswer
from bot.features.summaries.reading import SummaryAnswer
from bot.platform.models import Completion, ModelAccess, Prompt
from bot.platform.models.claude.check import find_models
from bot.platform.models.claude.connection import SILENCE_SECONDS, ClaudeConnection, make_claude_client
from bot.platform.models.completion import AnswerShape, build_schema
from bot.usage import NO_USAGE
from tests.emulators.claude.server import (
    ClaudeEmulator,
    Drop,
    Failure,
    Hang,
    Json,
    Refusal,
    Step,
    Text,
    Truncated,
    overview_answer,
    summary_answer,
)
from tests.emulators.claude.server import schema_of as schema_in
from tests.helpers.checks import closed_port
from tests.helpers.worlds import Garbage, Moved, WebPage
from tests.platform.models.model_steps import STATUSES

KEY = "sk-ant-test"
PROMPT = Prompt("claude-haiku-5-5", "v1", "Be brief.", "What changed? " * 20, build_schema(SummaryAnswer), 1_000)


@contextmanager
def model_at(url: str, key: str = KEY) -> Iterator[ClaudeConnection]:
    with make_claude_client(key, url) as client:
        yield ClaudeConnection(client)


def complete(claude: ClaudeEmulator, prompt: Prompt = PROMPT, *steps: Step) -> Completion:
    claude.script(*steps)
    with model_at(claude.url) as model:
        return model.complete(prompt)


def failure(claude: ClaudeEmulator, *steps: Step, prompt: Prompt = PROMPT, key: str = KEY) -> ModelError:
    claude.script(*steps)
    with model_at(claude.url, key) as model, pytest.raises(ModelError) as caught:
        model.complete(prompt)
    assert KEY not in str(caught.value)
    return caught.value


def test_the_text_after_a_block_of_thinking_is_the_answer(claude: ClaudeEmulator) -> None:
    assert complete(claude, PROMPT, Text("Hello.")).text == "Hello."


def test_usage_counts_the_tokens_of_the_call(claude: ClaudeEmulator) -> None:
    usage = complete(claude, PROMPT, Text("x" * 400)).usage
    assert usage.output == 100
    assert usage.input == pytest.approx((len(PROMPT.user) + len(PROMPT.system)) / 4, abs=2)
    assert (usage.cache_read, usage.cache_write) == (0, 0)


@pytest.mark.parametrize(
    ("shape", "answer"), [(SummaryAnswer, summary_answer()), (OverviewAnswer, overview_answer())]
)
def test_the_service_takes_our_schema(
    claude: ClaudeEmulator, shape: type[AnswerShape], answer: dict[str, object]
) -> None:
    completion = complete(claude, replace(PROMPT, schema=build_schema(shape)), Json(answer))
    assert shape.model_validate_json(completion.text)
    assert claude.problems == []
    assert [schema_in(body) for body in claude.requests] == [build_schema(shape)]


def test_the_request_says_what_the_prompt_says(claude: ClaudeEmulator) -> None:
    complete(claude, PROMPT, Text("x"))
    (body,) = claude.requests
    assert (body["model"], body["max_tokens"], body["system"]) == (PROMPT.model, 1_000, PROMPT.system)
    assert body["messages"] == [{"role": "user", "content": PROMPT.user}]
    assert body["output_config"]["effort"] == "low"


def test_a_refusal_is_told_as_one(claude: ClaudeEmulator) -> None:
    assert isinstance(failure(claude, Refusal()), ModelRefusal)


def test_an_answer_cut_short_is_told_as_one_with_what_it_took(claude: ClaudeEmulator) -> None:
    error = failure(claude, Truncated('{"type": "TRIVIAL"' + " " * 82))
    assert isinstance(error, ModelAnswerTruncated)
    assert (error.usage.output, error.usage.input > 0) == (25, True)


@pytest.mark.parametrize("stop_reason", ["model_context_window_exceeded", "max_tokens"])
def test_a_cut_answer_that_looks_complete_is_still_cut(claude: ClaudeEmulator, stop_reason: str) -> None:
    assert isinstance(failure(claude, Text("{}", stop_reason)), ModelAnswerTruncated)


@pytest.mark.parametrize(("step", "kind", "retry_after"), STATUSES, ids=lambda value: str(value)[:40])
@pytest.mark.slow
def test_a_status_becomes_an_error_of_the_domain(
    claude: ClaudeEmulator, step: Failure, kind: type[ModelError], retry_after: float | None
) -> None:
    error = failure(claude, step)
    assert type(error) is kind
    assert getattr(error, "retry_after", None) == retry_after
    assert error.usage == NO_USAGE


def test_the_adapter_asks_once_and_leaves_repeating_to_its_caller(claude: ClaudeEmulator) -> None:
    failure(claude, Failure(529, "overloaded_error"), Text("fine"))
    assert len(claude.requests) == 1


def test_a_wrong_key_names_its_setting_to_the_operator_alone(
    claude: ClaudeEmulator, caplog: pytest.LogCaptureFixture
) -> None:
    error = failure(claude, key="sk-ant-wrong")
    assert [record.getMessage() for record in caplog.records if record.name == "bot.platform.models.failures"] == [
        "Claude rejected the key: check ANTHROPIC_API_KEY."
    ]
    assert isinstance(error, ModelRequestRejected)
    assert str(error) == "the model's API key or credentials were rejected"
    assert "sk-ant-wrong" not in str(error)


def test_an_unknown_model_names_its_settings_to_the_operator_alone(
    claude: ClaudeEmulator, caplog: pytest.LogCaptureFixture
) -> None:
    error = failure(claude, prompt=replace(PROMPT, model="claude-none-9"))
    assert "PRDIGEST_SUMMARY_MODEL" in caplog.text
    assert isinstance(error, ModelRequestRejected)
    assert str(error) == "there is no model with that name"


def test_a_dropped_connection_is_busy(claude: ClaudeEmulator) -> None:
    assert isinstance(failure(claude, Drop()), ModelBusy)


def test_a_refused_connection_is_busy() -> None:
    with model_at(f"http://127.0.0.1:{closed_port()}") as model, pytest.raises(ModelBusy, match="reached"):
        model.complete(PROMPT)


def test_no_answer_in_time_is_busy(claude: ClaudeEmulator) -> None:
    claude.script(Hang(5))
    with (
        Anthropic(api_key=KEY, base_url=claude.url, timeout=0.2, max_retries=0) as client,
        pytest.raises(ModelBusy, match="in time"),
    ):
        ClaudeConnection(client).complete(PROMPT)


def test_a_call_is_bounded_and_not_repeated_by_the_sdk() -> None:
    with make_claude_client(KEY, None) as client:
        assert (client.timeout, client.max_retries) == (SILENCE_SECONDS, 0)


def test_a_limit_that_was_doubled_twice_is_still_taken(claude: ClaudeEmulator) -> None:
    assert complete(claude, replace(PROMPT, max_tokens=32_000), Text("fine")).text == "fine"


def page(status: int) -> Callable[[], ModelError]:
    def ask() -> ModelError:
        with WebPage(status) as world, model_at(world.url) as model, pytest.raises(ModelError) as caught:
            model.complete(PROMPT)
        return caught.value

    return ask


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with WebPage() as elsewhere, Moved(status, elsewhere.url) as world:
        with model_at(world.url) as model, pytest.raises(ModelError):
            model.complete(PROMPT)
        with pytest.raises(ModelBusy):
            find_models(ModelAccess(KEY, world.url), [PROMPT.model], 2)
        assert elsewhere.asked == []


def test_a_web_page_with_status_502_is_busy() -> None:
    assert isinstance(page(502)(), ModelBusy)


def test_a_web_page_in_place_of_an_answer_is_a_model_error() -> None:
    assert isinstance(page(200)(), ModelError)


BODIES = (
    b"\xff\xfe",
    b'{"type": "mess',
    b"[]",
    b'"ok"',
    b"",
    b"{}",
    b'{"content": null}',
    b'{"content": [7], "usage": {}}',
)


@pytest.mark.parametrize("body", BODIES, ids=repr)
def test_an_answer_that_claude_never_gives_is_busy(body: bytes) -> None:
    with Garbage(body) as world, model_at(world.url) as model, pytest.raises(ModelBusy):
        model.complete(PROMPT)
