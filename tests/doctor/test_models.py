"""What the doctor says of a provider of models, here of Claude, asked over the network."""

import pytest
from localslack.loopback import Loopback, Request, Response

from bot.doctor.checkup import check_models
from bot.platform.models import ModelAccess
from bot.platform.models.claude import CLAUDE
from tests.doctor.findings import format_findings
from tests.emulators.claude.server import ClaudeEmulator
from tests.helpers.checks import closed_port
from tests.helpers.worlds import WebPage

MODELS = {"claude-haiku-5-5": "PRDIGEST_SUMMARY_MODEL", "claude-sonnet-5-5": "PRDIGEST_ANSWER_MODEL"}
UNCHECKED = [f"- Model {name}: not checked: see Claude key above" for name in MODELS]
AWAY = (
    "Check ANTHROPIC_BASE_URL and the network, or try again in a few minutes: until then, summaries contain "
    "facts only."
)


def probe_models(url: str, models: dict[str, str] = MODELS, key: str = "sk-ant-test") -> list[str]:
    return format_findings(check_models(CLAUDE, ModelAccess(key, url), models, seconds=2))


def test_the_key_and_both_models_are_told_with_what_they_cost(claude: ClaudeEmulator) -> None:
    assert probe_models(claude.url) == [
        "+ Claude key: accepted",
        "+ Model claude-haiku-5-5: available, $0.10 in and $0.50 out per million tokens",
        "+ Model claude-sonnet-5-5: available, $2.00 in and $10.00 out per million tokens",
    ]
    assert claude.requests == []


def test_a_key_that_is_refused_is_the_one_failure(claude: ClaudeEmulator) -> None:
    advice = "Set ANTHROPIC_API_KEY to a valid key, or leave it empty for facts-only summaries."
    expected = [f"! Claude key: refused -> {advice}", *UNCHECKED]
    assert probe_models(claude.url, key="sk-ant-wrong") == expected


def test_a_key_that_no_request_can_hold_is_refused(claude: ClaudeEmulator) -> None:
    assert probe_models(claude.url, key="sk-ant-schlüssel")[0].startswith("! Claude key: refused")


def test_a_model_that_does_not_exist_names_the_setting(claude: ClaudeEmulator) -> None:
    advice = "Set PRDIGEST_SUMMARY_MODEL to the name of a model."
    lines = probe_models(claude.url, {"claude-haiku-9": "PRDIGEST_SUMMARY_MODEL", "claude-sonnet-5-5": "x"})
    assert lines[:2] == [
        "+ Claude key: accepted",
        f"! Model claude-haiku-9: Claude has no model with that name -> {advice}",
    ]
    assert lines[2].startswith("+ Model claude-sonnet-5-5")


def test_a_model_without_a_known_price_is_noted(claude: ClaudeEmulator) -> None:
    assert probe_models(claude.url, {"claude-fable-5-1": "PRDIGEST_ANSWER_MODEL"})[1:] == [
        "- Model claude-fable-5-1: available, price unknown: budgets assume the price of the most expensive model"
    ]


def test_a_claude_that_is_not_there_is_asked_once() -> None:
    assert probe_models(f"http://127.0.0.1:{closed_port()}") == [f"! Claude key: no answer -> {AWAY}", *UNCHECKED]


def test_a_page_of_whoever_stands_between_is_no_answer() -> None:
    for status in (200, 502):
        with WebPage(status) as world:
            lines = probe_models(world.url)
        assert lines[0].startswith("! Claude key: no answer"), status
        assert "Sign in" not in "".join(lines)


class _Busy(Loopback):
    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def handle(self, request: Request) -> Response:
        self.asked += 1
        return Response.of_json({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, 529)


def test_a_claude_that_is_busy_is_asked_once() -> None:
    with _Busy() as world:
        assert probe_models(world.url) == [f"! Claude key: no answer -> {AWAY}", *UNCHECKED]
    assert world.asked == 1


class _Gateway(Loopback):
    """Passes messages on, and knows nothing of models."""

    def __init__(self, status: int, body: object = None) -> None:
        super().__init__()
        self._answer = Response(status, b"no such route") if body is None else Response.of_json(body, status)

    def handle(self, request: Request) -> Response:
        return self._answer


def _error(kind: str, message: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message}}


HERE = (
    "not checked: the server at ANTHROPIC_BASE_URL does not list its models -> "
    "Try `prdigest summary` with the number of a pull request to see whether a model answers."
)


@pytest.mark.parametrize("status", [404, 405, 501])
@pytest.mark.parametrize(
    "body",
    [
        None,
        {"detail": "Not Found"},
        {"error": {"code": 404, "message": "Unknown request URL: GET /v1/models/claude-haiku-5-5"}},
        _error("not_found_error", "Not Found"),
        _error("invalid_request_error", "method not allowed"),
    ],
    ids=["text", "framework", "other JSON", "no route", "no method"],
)
@pytest.mark.slow
def test_an_endpoint_that_knows_no_models_is_no_failure(status: int, body: object) -> None:
    with _Gateway(status, body) as world:
        lines = probe_models(world.url)
    assert lines == [
        f"- Claude key: {HERE}",
        *(f"- Model {name}: not checked: see Claude key above" for name in MODELS),
    ]


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("body", [None, {"detail": "who?"}, _error("permission_error", "no")])
def test_an_endpoint_that_knows_no_models_may_still_refuse_the_key(status: int, body: object) -> None:
    with _Gateway(status, body) as world:
        assert probe_models(world.url)[0].startswith("! Claude key: refused -> Set ANTHROPIC_API_KEY")


def test_a_model_that_is_not_there_is_told_from_a_route_that_is_not_there() -> None:
    with _Gateway(404, _error("not_found_error", "model: claude-haiku-9")) as world:
        lines = probe_models(world.url, {"claude-haiku-9": "PRDIGEST_SUMMARY_MODEL"})
    assert lines[0] == "+ Claude key: accepted"
    assert lines[1].startswith("! Model claude-haiku-9: Claude has no model with that name")


def test_a_gateway_that_speaks_another_protocol_is_there() -> None:
    described = {"id": "claude-haiku-5-5", "object": "model", "created": 1677610602, "owned_by": "openai"}
    with _Gateway(200, described) as world:
        lines = probe_models(world.url)
    assert lines[0] == "+ Claude key: accepted"
    assert lines[1].startswith("+ Model claude-haiku-5-5: available")


@pytest.mark.parametrize("body", [{"data": [{"id": "claude-haiku-5-5"}]}, {"id": "claude-haiku-5-5"}])
def test_an_answer_of_another_form_is_no_missing_answer(body: object) -> None:
    with _Gateway(200, body) as world:
        assert probe_models(world.url)[0] == f"- Claude key: {HERE}"


def test_a_question_that_is_not_understood_is_no_refusal_of_the_key() -> None:
    with _Gateway(400, _error("invalid_request_error", "no")) as world:
        assert probe_models(world.url)[0] == f"- Claude key: {HERE}"
