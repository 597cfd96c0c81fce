"""What the doctor says of Claude, asked over the network."""

from __future__ import annotations

from bot.adapters.probe_claude import ClaudeProbe
from bot.sandbox.loopback import Loopback, Request, Response
from bot.services.doctor.claude import claude_checks
from tests.adapters.worlds import WebPage
from tests.checks import closed_port
from tests.emulators.claude import ClaudeEmulator
from tests.services.doctor.telling import told

MODELS = {"claude-haiku-5-5": "PRDIGEST_SUMMARY_MODEL", "claude-sonnet-5-5": "PRDIGEST_ANSWER_MODEL"}
UNCHECKED = [f"- Model {name}: not checked: see Claude key above" for name in MODELS]
AWAY = "Check ANTHROPIC_BASE_URL and the network, or try again in a few minutes: summaries are facts until then."


def checked(url: str, models: dict[str, str] = MODELS, key: str = "sk-ant-test") -> list[str]:
    return told(claude_checks(lambda: ClaudeProbe(key, url, timeout=2), models))


def test_the_key_and_both_models_are_told_with_what_they_cost(claude: ClaudeEmulator) -> None:
    assert checked(claude.url) == [
        "+ Claude key: accepted",
        "+ Model claude-haiku-5-5: known, $0.10 in and $0.50 out for a million tokens",
        "+ Model claude-sonnet-5-5: known, $2.00 in and $10.00 out for a million tokens",
    ]
    assert claude.requests == []


def test_without_a_key_it_says_what_that_means() -> None:
    reason = "no model: summaries are made of facts alone"
    assert told(claude_checks(reason, MODELS)) == [f"- Claude: {reason}"]


def test_a_key_that_is_refused_is_the_one_failure(claude: ClaudeEmulator) -> None:
    said = "Set ANTHROPIC_API_KEY to a key that is valid, or leave it empty for summaries made of facts alone."
    expected = [f"! Claude key: refused -> {said}", *UNCHECKED]
    assert checked(claude.url, key="sk-ant-wrong") == expected


def test_a_model_that_does_not_exist_names_the_setting(claude: ClaudeEmulator) -> None:
    said = "Set PRDIGEST_SUMMARY_MODEL to the name of a model."
    lines = checked(claude.url, {"claude-haiku-9": "PRDIGEST_SUMMARY_MODEL", "claude-sonnet-5-5": "x"})
    assert lines[:2] == [
        "+ Claude key: accepted",
        f"! Model claude-haiku-9: Claude has none of that name -> {said}",
    ]
    assert lines[2].startswith("+ Model claude-sonnet-5-5")


def test_a_model_without_a_known_price_is_noted(claude: ClaudeEmulator) -> None:
    assert checked(claude.url, {"claude-fable-5-1": "PRDIGEST_ANSWER_MODEL"})[1:] == [
        "- Model claude-fable-5-1: known, cost unknown: budgets count it as the dearest model there is"
    ]


def test_a_claude_that_is_not_there_is_asked_once() -> None:
    assert checked(f"http://127.0.0.1:{closed_port()}") == [f"! Claude key: no answer -> {AWAY}", *UNCHECKED]


def test_a_page_of_whoever_stands_between_is_no_answer() -> None:
    for status in (200, 404, 502):
        with WebPage(status) as world:
            lines = checked(world.url)
        assert lines[0].startswith("! Claude key: "), status
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
        assert checked(world.url) == [f"! Claude key: no answer -> {AWAY}", *UNCHECKED]
    assert world.asked == 1
