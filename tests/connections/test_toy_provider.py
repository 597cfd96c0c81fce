"""Another provider of models needs nothing but its package, its registration and its settings."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from redis import Redis

from bot.app import App, open_app, prepare_worker
from bot.errors import ConfigurationError
from bot.features.digest.service import build_digest
from bot.features.questions.rules import Question
from bot.features.questions.service import QUESTIONS, answer_questions
from bot.platform.models import ModelProvider
from bot.platform.models.claude import CLAUDE
from bot.platform.models.registry import PROVIDERS, choose_provider, get_model_access
from bot.platform.slack.requests import SlackRequest
from bot.settings import Settings, UsableSettings, load_settings
from bot.usage import NO_PRICES, Usage
from docs.settings import describe_group, list_providers
from tests.connections.toy_provider import COMPLETED, KEY, TALKED, TEXT, TOY, ToyGroup, ToyServer, ToySettings
from tests.doctor.findings import examine
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.world import CHANNEL, add_small_day
from tests.helpers.worlds import MORNING, ScriptedGitHub

Env = pytest.MonkeyPatch
REGISTERED = (CLAUDE, TOY)


@pytest.fixture
def toy() -> Iterator[ToyServer]:
    with ToyServer() as server:
        yield server


@pytest.fixture
def settings(
    toy: ToyServer, github: ScriptedGitHub, slack: SlackEmulator, store: Redis, store_url: str, monkeypatch: Env
) -> ToySettings:
    """Those of a bot that uses the toy."""
    store.ping()
    add_small_day(github, 2)
    for name, value in {
        "PRDIGEST_MODEL_PROVIDER": "toy",
        "TOY_API_KEY": KEY,
        "TOY_URL": toy.url,
        "PRDIGEST_SUMMARY_MODEL": "toy-1",
        "PRDIGEST_ANSWER_MODEL": "toy-1",
        "PRDIGEST_REPO": str(REPOSITORY),
        "PRDIGEST_TIMEZONE": "America/Los_Angeles",
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": github.token,
        "PRDIGEST_REVIEW_BUDGET": "0",
        "SLACK_API_URL": slack.url,
        "SLACK_BOT_TOKEN": "xoxb-test",
        "REDIS_URL": store_url,
    }.items():
        monkeypatch.setenv(name, value)
    return ToySettings()


@pytest.fixture
def base(settings: ToySettings) -> Iterator[App]:
    with open_app(settings, lambda: MORNING, time.sleep, providers=REGISTERED) as made:
        yield made


def compute_cost(calls: int, used: tuple[int, int]) -> float:
    return calls * TOY.prices.cautious_cost("toy-1", Usage(*used))


def test_summaries_and_the_overview_are_the_toys_and_paid_by_its_prices(base: App, toy: ToyServer) -> None:
    digests = base
    digest = build_digest(base, REPOSITORY, DAY, "Engine")
    assert [entry.summary.headline for entry in digest.entries] == ["Counts once"] * 2
    assert digest.overview.text == "A toy day."
    assert toy.rooms == {"attic"}, "the option that the provider names"
    assert toy.requests == ["/complete"] * 3
    assert digest.cost == pytest.approx(compute_cost(3, COMPLETED))
    assert digests.budget.read_spending_today() == pytest.approx(compute_cost(3, COMPLETED))


@pytest.mark.slow
def test_an_answer_is_streamed_after_a_tool_was_used(base: App, toy: ToyServer, slack: SlackEmulator) -> None:
    services = prepare_worker(base)
    slack.get_channel(CHANNEL)
    thread = slack.add_message(CHANNEL, "Digest")
    asked = slack.add_message(CHANNEL, "What was counted twice?", "U0ASKER", thread)
    slack_request = SlackRequest("Ev1", "T0TEAM", CHANNEL, "U0ASKER", thread=thread)
    place = f"{CHANNEL}:{thread}"
    question = Question(slack_request, "What was counted twice?", asked)
    services.tables.enqueue(QUESTIONS, question, float(asked), place, least=0)
    answer_questions.run(services, place)
    (answer,) = [each for each in slack.list_replies(CHANNEL, thread) if each.get("bot_id")]
    # the card of what was read comes first
    assert [each["type"] for each in answer["blocks"]][:2] == ["task_card", "markdown"]
    assert answer["blocks"][1]["text"].split() == (TEXT * 20).split()
    assert next(method for method, _ in slack.calls if method.endswith("Stream")) == "chat.startStream"
    assert toy.requests.count("/talk") == 2
    assert any("+retries = 101" in part for part in toy.heard), "what the tool found"
    summaries = toy.requests.count("/complete")
    spent = compute_cost(summaries, COMPLETED) + compute_cost(2, TALKED)
    assert services.budget.read_spending_today() == pytest.approx(spent)


def list_findings(settings: Settings) -> list[str]:
    usable = UsableSettings(settings, {})
    return examine(usable, REGISTERED)


def test_the_doctor_examines_it(settings: ToySettings) -> None:
    lines = list_findings(settings)
    assert "+ Toy key: accepted" in lines
    assert "+ Model toy-1: available, $10.00 in and $100.00 out per million tokens" in lines
    assert not [line for line in lines if "Claude" in line]


def test_the_doctor_says_what_is_wrong_with_it_in_its_own_names(
    settings: ToySettings, toy: ToyServer, monkeypatch: Env
) -> None:
    monkeypatch.setenv("TOY_API_KEY", "wrong")
    monkeypatch.setenv("TOY_APIURL", "x")
    (key,) = [line for line in list_findings(ToySettings()) if line.startswith("! Toy key")]
    assert key == (
        "! Toy key: refused -> Set TOY_API_KEY to a valid key, or leave it empty for facts-only summaries."
    )
    monkeypatch.setenv("TOY_API_KEY", "wrong one")
    assert any(line.startswith("! Settings: TOY_API_KEY contains blanks") for line in list_findings(ToySettings()))


# which one is asked


def test_the_one_that_the_settings_name_is_chosen_and_claude_if_they_name_none(
    settings: ToySettings, monkeypatch: Env
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    assert choose_provider(settings, REGISTERED) is TOY
    monkeypatch.delenv("PRDIGEST_MODEL_PROVIDER")
    assert choose_provider(ToySettings(), REGISTERED) is CLAUDE
    monkeypatch.delenv("TOY_API_KEY")
    assert get_model_access(ToySettings(), TOY) is None


def test_a_provider_gets_the_values_of_its_own_settings_alone(settings: ToySettings, monkeypatch: Env) -> None:
    for name, value in {
        "TOY_ROOM": "cellar",
        "PRDIGEST_CONTEXT_TOKENS": "8192",
        "PRDIGEST_MODEL_REGION": "us-east-1",
        "ANTHROPIC_API_KEY": "sk-ant-test",
    }.items():
        monkeypatch.setenv(name, value)
    toys, claudes = (get_model_access(ToySettings(), each) for each in REGISTERED[::-1])
    assert toys
    assert toys.options == {"TOY_ROOM": "cellar"}
    assert claudes
    assert claudes.options == {}


UNKNOWN = "write 'anthropic' or 'toy'"


def test_an_unknown_name_is_refused_with_those_that_are_registered(
    settings: ToySettings, monkeypatch: Env
) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_PROVIDER", "toys")
    with pytest.raises(ConfigurationError, match=f"^PRDIGEST_MODEL_PROVIDER can't be used: {UNKNOWN}.$"):
        choose_provider(ToySettings(), REGISTERED)
    with pytest.raises(
        ConfigurationError, match=rf"write '{PROVIDERS[0].choice}', .* or '{PROVIDERS[-1].choice}'\."
    ):
        choose_provider(ToySettings())
    lines = list_findings(ToySettings())
    fault = f"! Settings: PRDIGEST_MODEL_PROVIDER can't be used: {UNKNOWN} -> "
    assert any(line.startswith(fault) for line in lines), lines
    assert any("Claude" in line for line in lines), "the first stands in for it"


def test_its_settings_are_documented_as_all_others() -> None:
    rows = describe_group(ToyGroup)
    assert [(row["variable"], row["secret"], row["read_by"]) for row in rows] == [
        ("TOY_API_KEY", "yes", "worker, commands"),
        ("TOY_URL", "", "worker, commands"),
        ("TOY_ROOM", "", "worker, commands"),
    ]
    assert list_providers(REGISTERED) == "`anthropic` (Claude's API) or `toy` (a toy)"


WITH_KEYS = [each for each in PROVIDERS if each.key_variable and not each.is_key_optional]
CLOUDS = [each for each in PROVIDERS if each.is_cloud]


@pytest.mark.parametrize("provider", WITH_KEYS, ids=lambda each: each.name)
def test_every_registered_provider_has_its_settings(monkeypatch: Env, provider: ModelProvider) -> None:
    assert get_model_access(Settings(), provider) is None
    monkeypatch.setenv(provider.key_variable, "a-key")
    access = get_model_access(Settings(), provider)
    assert access is not None
    assert (access.key, "a-key" in repr(access)) == ("a-key", False)


@pytest.mark.parametrize("provider", CLOUDS, ids=lambda each: each.name)
def test_a_cloud_that_is_named_is_asked_whatever_keys_there_are(monkeypatch: Env, provider: ModelProvider) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    assert choose_provider(Settings()) is CLAUDE
    monkeypatch.setenv("PRDIGEST_MODEL_PROVIDER", provider.choice)
    assert choose_provider(Settings()) is provider
    for variable, example in provider.required_variables.items():
        with pytest.raises(ConfigurationError, match=f"Set {variable}, such as {example}"):
            get_model_access(Settings(), provider)
        monkeypatch.setenv(variable, example)
    access = get_model_access(Settings(), provider)
    assert access is not None
    assert (access.key, dict(access.options)) == ("", dict(provider.required_variables))


@pytest.mark.parametrize("provider", CLOUDS, ids=lambda each: each.name)
def test_no_process_starts_without_what_its_cloud_needs(monkeypatch: Env, provider: ModelProvider) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_PROVIDER", provider.choice)
    with (
        pytest.raises(ConfigurationError, match="Set PRDIGEST_MODEL_REGION"),
        open_app(Settings(), lambda: MORNING, time.sleep),
    ):
        pass


def test_a_name_that_would_change_the_address_is_no_region(monkeypatch: Env) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_REGION", "evil.example/x")
    with pytest.raises(ConfigurationError, match="PRDIGEST_MODEL_REGION can't be used: use lower-case letters"):
        load_settings()


def test_the_doctor_says_which_setting_a_cloud_lacks(settings: ToySettings, monkeypatch: Env) -> None:
    monkeypatch.setenv("PRDIGEST_MODEL_PROVIDER", "vertex")
    lines = examine(UsableSettings(Settings(), {}))
    missing = "! Settings: PRDIGEST_MODEL_PROJECT is not set -> Set PRDIGEST_MODEL_PROJECT, such as my-project-123"
    assert any(line.startswith(missing) for line in lines)
    assert any("Claude on Vertex AI" in line and "see PRDIGEST_MODEL_REGION above" in line for line in lines)


def test_a_provider_of_unknown_cost_is_no_provider() -> None:
    with pytest.raises(ValueError, match="name what one model of Toy costs"):
        replace(TOY, prices=NO_PRICES)
