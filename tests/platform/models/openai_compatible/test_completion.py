"""JSON from an OpenAI-compatible server: what is asked, what is answered, and the failures."""

import time
from dataclasses import replace

import pytest

from bot.errors import (
    ModelAnswerTruncated,
    ModelBusy,
    ModelError,
    ModelInputTooLong,
    ModelRefusal,
    ModelRequestRejected,
)
from bot.features.digest.overview import OverviewAnswer
from bot.features.reviews.report import ReviewAnswer
from bot.features.summaries.reading import SummaryAnswer
from bot.platform.models import ModelAccess
from bot.platform.models.completion import AnswerShape, build_schema
from bot.platform.models.openai_compatible.connection import OpenAIConnection
from bot.usage import NO_USAGE
from tests.emulators.claude.script import (
    Drop,
    Failure,
    Hang,
    Json,
    Refusal,
    Text,
    Truncated,
    overview_answer,
    review_answer,
    summary_answer,
    suspicion,
)
from tests.emulators.openai_compatible.replies import THOUGHT, Reasoning
from tests.emulators.openai_compatible.server import SMALL, OpenAIEmulator
from tests.helpers.checks import closed_port
from tests.platform.models.model_steps import STATUSES
from tests.platform.models.openai_compatible.asking import PROMPT, complete, failure, open_model

ADVICE = "bot.platform.models.failures"


def advice(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == ADVICE]


@pytest.mark.parametrize(
    ("shape", "answer"),
    [
        (SummaryAnswer, summary_answer()),
        (OverviewAnswer, overview_answer()),
        (ReviewAnswer, review_answer(suspicion())),
    ],
)
def test_the_server_takes_our_schemas(
    model_server: OpenAIEmulator, shape: type[AnswerShape], answer: dict[str, object]
) -> None:
    completion = complete(model_server, Json(answer), prompt=replace(PROMPT, schema=build_schema(shape)))
    assert shape.model_validate_json(completion.text)


def test_the_request_says_what_the_prompt_says(model_server: OpenAIEmulator) -> None:
    usage = complete(model_server, Text("x" * 400)).usage
    (body,) = model_server.requests
    assert (body["model"], body["max_tokens"], "stream" in body) == (SMALL, 1_000, False)
    assert body["messages"] == [
        {"role": "system", "content": PROMPT.system},
        {"role": "user", "content": PROMPT.user},
    ]
    assert body["response_format"]["json_schema"]["schema"] == PROMPT.schema
    assert (usage.output, usage.input) == (100, model_server.usages[0]["prompt_tokens"])


def test_only_the_key_goes_along(model_server: OpenAIEmulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other programs keep secrets in variables that a client of the protocol would read."""
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, f"x-stray: stray-{name}")
    complete(model_server, Text("x"))
    for headers in model_server.headers:
        assert headers["authorization"] == f"Bearer {model_server.api_key}"
        assert "stray" not in str(headers)
        assert set(headers) <= {
            *("host", "accept", "accept-encoding", "connection", "user-agent", "authorization"),
            *("content-length", "content-type"),
        }


def test_a_server_without_a_key_gets_none(model_server: OpenAIEmulator) -> None:
    model_server.api_key = ""
    complete(model_server, Text("x"), key="")
    assert ["authorization" in headers for headers in model_server.headers] == [False, False]


# --- formats


def test_a_server_that_refuses_formats_is_asked_for_plain_json_from_then_on(
    model_server: OpenAIEmulator, caplog: pytest.LogCaptureFixture
) -> None:
    model_server.takes_format = False
    wrapped = f"Here it is:\n```json\n{Json(summary_answer()).value!r}\n```".replace("'", '"')
    model_server.script(Text(wrapped), Json(summary_answer()))
    with open_model(model_server.address) as model:
        texts = [model.complete(PROMPT).text for _ in range(2)]
    assert all(SummaryAnswer.model_validate_json(text) for text in texts)
    assert ["response_format" in body for body in model_server.requests] == [True, False, False]
    assert "JSON schema" in model_server.requests[1]["messages"][0]["content"]
    assert len([line for line in advice(caplog) if "plain JSON" in line]) == 1


def test_a_request_that_is_refused_either_way_says_nothing_about_formats(model_server: OpenAIEmulator) -> None:
    model_server.script(Failure(400, "BadRequestError"), Failure(400, "BadRequestError"), Json(summary_answer()))
    with open_model(model_server.address) as model:
        with pytest.raises(ModelRequestRejected, match="status 400"):
            model.complete(PROMPT)
        model.complete(PROMPT)
    assert "response_format" in model_server.requests[-1]


# --- reasoning


@pytest.mark.parametrize("reasoning", ["reasoning", "reasoning_content", "marked", "unmarked"])
@pytest.mark.parametrize("headline", ["Fix a cache", "Parse </think> and <think> in streams"])
def test_reasoning_is_no_part_of_an_answer(
    model_server: OpenAIEmulator, reasoning: Reasoning, headline: str
) -> None:
    model_server.reasoning = reasoning
    completion = complete(model_server, Json(summary_answer(headline=headline)))
    assert SummaryAnswer.model_validate_json(completion.text).headline == headline
    assert "SECRET" in THOUGHT
    assert "SECRET" not in completion.text


# --- ends


def test_a_refusal_is_told_as_one(model_server: OpenAIEmulator) -> None:
    model_server.script(Refusal())
    error = failure(model_server.address)
    assert isinstance(error, ModelRefusal)
    assert error.usage.input > 0


@pytest.mark.parametrize("step", [Truncated("{}"), Text("{}", "max_tokens"), Text("{}" * 9_000)])
def test_a_cut_answer_that_looks_complete_is_still_cut(
    model_server: OpenAIEmulator, step: Text | Truncated
) -> None:
    model_server.script(step)
    error = failure(model_server.address)
    assert isinstance(error, ModelAnswerTruncated)
    assert error.usage.output > 0


def test_absent_usage_is_estimated_and_said_to_be(
    model_server: OpenAIEmulator, caplog: pytest.LogCaptureFixture
) -> None:
    model_server.reports_usage = False
    usage = complete(model_server, Text("x" * 300)).usage
    assert (usage.output, usage.input > len(PROMPT.user) // 4) == (100, True)
    assert any("estimated" in line for line in advice(caplog))


# --- errors


@pytest.mark.slow
@pytest.mark.parametrize(("step", "kind", "retry_after"), STATUSES, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("is_flat", [False, True], ids=["nested", "flat"])
def test_a_status_becomes_an_error_of_the_domain(
    model_server: OpenAIEmulator,
    step: Failure,
    kind: type[ModelError],
    retry_after: float | None,
    *,
    is_flat: bool,
) -> None:
    model_server.has_flat_errors = is_flat
    model_server.script(step, step)
    error = failure(model_server.address)
    assert (type(error), error.usage) == (kind, NO_USAGE)
    assert getattr(error, "retry_after", None) == retry_after


@pytest.mark.parametrize(
    ("key", "model", "setting", "message"),
    [
        ("wrong-key-of-mine", SMALL, "PRDIGEST_MODEL_KEY", "the model's API key was rejected"),
        ("schlüssel", SMALL, "", "the model's API key was rejected"),
        ("key\r\nX: y", SMALL, "", "the model's API key was rejected"),
        ("key-of-the-server", "test/none", "PRDIGEST_SUMMARY_MODEL", "there is no model with that name"),
    ],
)
def test_a_wrong_setting_is_named_to_the_operator_alone(
    model_server: OpenAIEmulator,
    caplog: pytest.LogCaptureFixture,
    key: str,
    model: str,
    setting: str,
    message: str,
) -> None:
    with open_model(model_server.address, key) as connection:
        for _ in range(2):
            with pytest.raises(ModelRequestRejected) as caught:
                connection.complete(replace(PROMPT, model=model))
            assert str(caught.value) == message
    assert [setting in line for line in advice(caplog)] == ([True] if setting else [])
    assert key not in caplog.text.replace("key-of-the-server", "")


def test_a_wrong_path_names_the_address(model_server: OpenAIEmulator, caplog: pytest.LogCaptureFixture) -> None:
    assert isinstance(failure(model_server.url), ModelRequestRejected)
    assert [line for line in advice(caplog) if "PRDIGEST_MODEL_URL" in line]


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens.",
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
        "the request exceeds the available context size, try increasing it",
    ],
)
def test_a_request_that_the_server_finds_too_long_is_not_sent_again(
    model_server: OpenAIEmulator, message: str
) -> None:
    model_server.script(Failure(400, "BadRequestError", message))
    error = failure(model_server.address)
    assert isinstance(error, ModelInputTooLong)
    assert (error.excess, len(model_server.requests)) == (None, 1)


def test_a_lost_connection_and_a_missing_server_are_busy(model_server: OpenAIEmulator) -> None:
    model_server.script(Drop())
    assert isinstance(failure(model_server.address), ModelBusy)
    error = failure(f"http://127.0.0.1:{closed_port()}/v1")
    assert (type(error), str(error)) == (ModelBusy, "the model can't be reached")


def test_no_answer_in_time_is_busy(model_server: OpenAIEmulator) -> None:
    model_server.script(Hang(5))
    connection = OpenAIConnection(ModelAccess(model_server.api_key, model_server.address), seconds=0.3)
    began = time.monotonic()
    with pytest.raises(ModelBusy, match="in time"):
        connection.complete(PROMPT)
    assert time.monotonic() - began < 4
    connection.close()
