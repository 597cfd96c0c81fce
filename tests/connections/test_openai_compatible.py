import time
from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

from bot.app import App, open_app, prepare_worker
from bot.errors import ConfigurationError
from bot.features.digest.service import build_digest
from bot.features.merges.summary import describe_fallback
from bot.features.questions.rules import Question
from bot.features.questions.service import QUESTIONS, answer_questions
from bot.features.usage import read_usage, render_usage
from bot.platform.models.registry import choose_provider, get_model_access
from bot.platform.slack.requests import SlackRequest
from bot.platform.slack.terminal import format_message
from bot.settings import Settings, UsableSettings, load_settings
from tests.doctor.findings import examine
from tests.emulators.claude.script import Step, Text, ToolUse, default_answer
from tests.emulators.openai_compatible.replies import Reasoning
from tests.emulators.openai_compatible.server import LARGE, SMALL, OpenAIEmulator
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.checks import closed_port
from tests.helpers.world import CHANNEL, add_small_day
from tests.helpers.worlds import MORNING, ScriptedGitHub

Env = pytest.MonkeyPatch
PRICES = f"{SMALL}=1/4 {LARGE}=2/8"
ANSWER = "Retries were counted twice before. "


@pytest.fixture
def model_server(
    github: ScriptedGitHub, slack: SlackEmulator, store: Redis, store_url: str, monkeypatch: Env
) -> Iterator[OpenAIEmulator]:
    store.ping()
    add_small_day(github, 2)
    with OpenAIEmulator() as emulator:
        for name, value in {
            **emulator.settings,
            # of no use, as the settings name another provider
            "ANTHROPIC_API_KEY": "sk-ant-of-nobody",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{closed_port()}",
            "PRDIGEST_REPO": str(REPOSITORY),
            "PRDIGEST_TIMEZONE": "America/Los_Angeles",
            "GITHUB_API_URL": github.url,
            "GITHUB_TOKEN": github.token,
            "SLACK_API_URL": slack.url,
            "SLACK_BOT_TOKEN": "xoxb-test",
            "REDIS_URL": store_url,
        }.items():
            monkeypatch.setenv(name, value)
        yield emulator
        assert emulator.problems == []


def open_base() -> Iterator[App]:
    with open_app(load_settings(), lambda: MORNING, time.sleep) as base:
        yield base


def respond(view: dict[str, object]) -> Step:
    """Look something up once, and then answer."""
    if not view.get("tools") or "format" in str(view["output_config"]):
        return default_answer(view)
    is_read = "tool_result" in str(view["messages"])
    return Text(f"<answer>{ANSWER * 20}</answer>") if is_read else ToolUse("read_diff", {"number": 101})


@pytest.mark.slow
@pytest.mark.parametrize(("prices", "cost"), [(PRICES, "priced"), ("0/0", "free"), ("", "unknown")])
def test_a_digest_is_written_and_its_cost_is_what_is_known(
    model_server: OpenAIEmulator, monkeypatch: Env, prices: str, cost: str
) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_PRICES", prices)
    monkeypatch.setenv("PRDIGEST_REVIEW_BUDGET", "0")
    for base in open_base():
        digest = build_digest(base, REPOSITORY, DAY, "Engine")
        spent = base.budget.read_spending_today()
        report = read_usage(base)
    assert [entry.summary.headline for entry in digest.entries] == ["A small change to one part"] * 2
    assert digest.overview.text
    assert sorted(body["model"] for body in model_server.requests) == [LARGE, SMALL, SMALL]
    dollars = sum(
        (each["prompt_tokens"] * rate + each["completion_tokens"] * 4 * rate) / 1e6
        for each, rate in zip(model_server.usages, [1, 1, 2], strict=True)
    )
    expected = {"priced": dollars, "free": 0.0, "unknown": None}[cost]
    assert digest.cost == (None if expected is None else pytest.approx(expected))
    assert spent == pytest.approx(expected or 0.0, abs=3e-6)
    assert report.dump_json()["month_total"]["input_tokens"] == sum(
        each["prompt_tokens"] for each in model_server.usages
    )
    assert ("PRDIGEST_MODEL_PRICES" in format_message(render_usage(report))) == (cost == "unknown")


def test_the_budget_of_a_month_stops_calls_that_have_a_price(
    model_server: OpenAIEmulator, monkeypatch: Env
) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_PRICES", "1000/1000")
    monkeypatch.setenv("PRDIGEST_MONTHLY_BUDGET", "0.01")
    for base in open_base():
        digest = build_digest(base, REPOSITORY, DAY, "Engine")
        assert ["budget" in describe_fallback(entry.summary.fallback) for entry in digest.entries].count(True) == 1
    # the first call is let through, as it does not exceed the cap alone
    assert len(model_server.requests) == 1


@pytest.mark.slow
@pytest.mark.parametrize("reasoning", ["", "reasoning", "unmarked"])
def test_an_answer_is_shown_after_a_tool_was_used_without_reasoning(
    model_server: OpenAIEmulator, slack: SlackEmulator, store: Redis, reasoning: Reasoning
) -> None:
    model_server.respond, model_server.reasoning = respond, reasoning
    slack.get_channel(CHANNEL)
    thread = slack.add_message(CHANNEL, "Digest")
    asked = slack.add_message(CHANNEL, "What was counted twice?", "U0ASKER", thread)
    slack_request = SlackRequest("Ev1", "T0TEAM", CHANNEL, "U0ASKER", thread=thread)
    place = f"{CHANNEL}:{thread}"
    for base in open_base():
        services = prepare_worker(base)
        question = Question(slack_request, "What was counted twice?", asked)
        services.tables.enqueue(QUESTIONS, question, float(asked), place, least=0)
        answer_questions.run(services, place)
    (answer,) = [each for each in slack.list_replies(CHANNEL, thread) if each.get("bot_id")]
    # the card of what was read comes first
    assert [each["type"] for each in answer["blocks"]][:2] == ["task_card", "markdown"]
    assert answer["blocks"][1]["text"].split() == (ANSWER * 20).split()
    assert "+retries = 101" in str(model_server.requests)
    kept = b" ".join(store.dump(key) or b"" for key in store.scan_iter("*"))
    assert b"SECRET THOUGHT" not in kept
    assert "SECRET" not in str(slack.calls)


# --- settings


@pytest.mark.parametrize("name", ["PRDIGEST_MODEL_URL", "PRDIGEST_SUMMARY_MODEL", "PRDIGEST_ANSWER_MODEL"])
def test_no_process_starts_without_what_it_needs(
    model_server: OpenAIEmulator, monkeypatch: Env, name: str
) -> None:
    monkeypatch.delenv(name)
    with pytest.raises(ConfigurationError, match=f"Set {name}, such as"):
        next(open_base())


def test_it_is_asked_only_if_it_is_named(model_server: OpenAIEmulator, monkeypatch: Env) -> None:
    assert choose_provider(Settings()).name == "OpenAI-compatible server"
    monkeypatch.delenv("PRDIGEST_MODEL_PROVIDER")
    assert choose_provider(Settings()).name == "Claude"
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    settings = Settings()
    assert get_model_access(settings, choose_provider(settings)) is None


# --- the doctor


def examine_models() -> list[str]:
    return [line for line in examine(UsableSettings(Settings(), {})) if "odel" in line or "OpenAI" in line]


def test_the_doctor_tries_what_the_bot_needs(model_server: OpenAIEmulator, monkeypatch: Env) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_PRICES", PRICES)
    lines = examine_models()
    assert "+ OpenAI-compatible server: accepted" in lines
    for model, price in ((SMALL, "$1.00 in and $4.00 out"), (LARGE, "$2.00 in and $8.00 out")):
        assert f"+ Model {model}: available, {price} per million tokens" in lines
        assert f"- Model {model}, structured outputs: work" in lines
        assert f"- Model {model}, tools: accepted" in lines
        assert f"- Model {model}, context window: 131,072 tokens" in lines


def test_the_doctor_says_what_the_server_lacks(model_server: OpenAIEmulator) -> None:
    model_server.takes_format = model_server.takes_tools = model_server.reports_usage = False
    model_server.models = {SMALL: None}
    lines = " ".join(examine_models())
    assert f"! Model {LARGE}: OpenAI-compatible server has no model with that name" in lines
    for part in (
        "price unknown: no budget in dollars limits it -> Set PRDIGEST_MODEL_PRICES",
        "structured outputs: not supported: plain JSON is asked for",
        "tools: the model's server accepts no tools -> Without tools there are no answers",
        "context window: unknown: set PRDIGEST_CONTEXT_TOKENS",
    ):
        assert part in lines


ADVICE = "Give the server a window of at least 32,000 tokens"
WINDOWS: dict[str, tuple[dict[str, Any], str]] = {
    "vLLM": ({"max_model_len": 40_000}, "- {}: 40,000 tokens"),
    "LiteLLM": ({"max_input_tokens": 128_000, "max_output_tokens": 4_096}, "- {}: 128,000 tokens"),
    "OpenRouter": ({"context_length": 65_536}, "- {}: 65,536 tokens"),
    "llama.cpp": ({"meta": {"n_ctx": 32_768, "n_ctx_train": 131_072}}, "- {}: 32,768 tokens"),
    "a model that reads little": (
        {"max_model_len": 16_384},
        f"- {{}}: 16,384 tokens: large pull requests are read in part -> {ADVICE}",
    ),
    "a model that answers nothing": (
        {"meta": {"n_ctx": 4_096}},
        f"! {{}}: 4,096 tokens: no question can be answered -> {ADVICE}",
    ),
    "nonsense": (
        {"max_model_len": "40000", "max_input_tokens": True, "context_length": -1, "meta": [7]},
        "- {}: unknown: set PRDIGEST_CONTEXT_TOKENS",
    ),
}


@pytest.mark.parametrize(("described", "line_prefix"), WINDOWS.values(), ids=WINDOWS)
def test_the_window_is_read_as_each_server_says_it(
    model_server: OpenAIEmulator, described: dict[str, Any], line_prefix: str
) -> None:
    model_server.describe = lambda name: {"id": name, "object": "model", **described}
    name = f"Model {SMALL}, context window"
    [line] = [line for line in examine_models() if name in line]
    assert line.startswith(line_prefix.format(name))


def test_a_window_of_the_settings_that_is_too_small_is_told(
    model_server: OpenAIEmulator, monkeypatch: Env
) -> None:
    monkeypatch.setenv("PRDIGEST_CONTEXT_TOKENS", "4096")
    known = "4,096 tokens, as PRDIGEST_CONTEXT_TOKENS says: no question can be answered"
    assert f"! Model {LARGE}, context window: {known}" in " ".join(examine_models())


@pytest.mark.parametrize(
    ("answer", "line_prefix"),
    [
        (Text("Yes!"), "! Model test/small-8b, structured outputs: the model's answer was not of the schema"),
        (Text("x" * 4_000), "- Model test/small-8b, structured outputs: not checked: the model only reasoned"),
    ],
)
def test_the_doctor_looks_at_the_answer(model_server: OpenAIEmulator, answer: Step, line_prefix: str) -> None:
    model_server.reports_usage = False
    model_server.respond = lambda _: answer
    lines = examine_models()
    assert any(line.startswith(line_prefix) for line in lines)
    assert f"- Model {SMALL}, token counts: not reported: they are estimated" in lines


def test_a_misspelled_setting_is_one_fault(model_server: OpenAIEmulator, monkeypatch: Env) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_PRICE", "0/0")
    lines = [line for line in examine(UsableSettings(Settings(), {})) if "PRDIGEST_MODEL_PRICE " in line]
    assert len(lines) == 1


def test_the_doctor_says_which_setting_is_wrong(model_server: OpenAIEmulator, monkeypatch: Env) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_KEY", "wrong")
    key = "Set PRDIGEST_MODEL_KEY to a key that the server at PRDIGEST_MODEL_URL accepts."
    assert f"! OpenAI-compatible server: refused -> {key}" in examine_models()
    monkeypatch.setenv("PRDIGEST_MODEL_URL", f"http://127.0.0.1:{closed_port()}/v1")
    no_answer = "! OpenAI-compatible server: no answer -> Check PRDIGEST_M"
    assert any(line.startswith(no_answer) for line in examine_models())
