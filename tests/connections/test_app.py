import datetime as dt
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from redis import Redis

from bot.app import App, open_app, prepare_worker
from bot.connections.sources import get_display_name
from bot.dates import LocalDay, parse_span, parse_zone
from bot.errors import ConfigurationError, PrdigestError, SlackCallRefused, StoreUnavailable, UsageError
from bot.features.digest.service import DigestUse, build_digest
from bot.features.merges.requests import RisksRequest
from bot.features.questions.reading import ReadingSession
from bot.features.questions.rules import Question, ThreadSubject
from bot.features.questions.service import QUESTIONS, abandon_question
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.tables import SUBSCRIPTIONS, put_subscription
from bot.features.summaries.service import get_cached_entry, get_entry
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import Reference
from bot.platform.pulls.sources import PullRequests
from bot.platform.store.connection import RedisCache, connect_server
from bot.platform.store.embedded.keeper import LINGER_SECONDS
from bot.platform.store.embedded.server import start_embedded_url
from bot.settings import load_settings
from impact.repository import Repository
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.github.server import changed_file
from tests.emulators.github.server import pull as record
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.apps import Answers, make_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, pull
from tests.helpers.builders import changed_file as of_product
from tests.helpers.checks import closed_port, is_one_sentence
from tests.helpers.doubles import slack_request
from tests.helpers.worlds import MORNING, REPO, ScriptedGitHub

pytestmark = pytest.mark.slow

Env = pytest.MonkeyPatch


def open_base() -> AbstractContextManager[App]:
    return open_app(load_settings(), lambda: MORNING, time.sleep)


@pytest.fixture(scope="module")
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


@pytest.fixture
def merges(monkeypatch: Env, github: ScriptedGitHub, store: Redis, store_url: str) -> Env:
    store.ping()
    github.add(REPO, *(record(n, merged_at=NOON, files=[changed_file(f"of/{n}.py")]) for n in range(1, 41)))
    settings = {"REDIS_URL": store_url, "GITHUB_API_URL": github.url, "GITHUB_TOKEN": github.token}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.fixture
def app(merges: Env, private_key: str) -> Env:
    """The settings of a GitHub App in place of the token. Its key is checked for 40 ms at each reading."""
    merges.delenv("GITHUB_TOKEN")
    settings = {"GITHUB_APP_ID": "7", "GITHUB_APP_INSTALLATION_ID": "42", "GITHUB_APP_PRIVATE_KEY": private_key}
    for name, value in settings.items():
        merges.setenv(name, value)
    return merges


def numbers(base: App) -> set[int]:
    return {pull.number for pull in base.pulls.list_merged(REPOSITORY, DAY).pulls}


def paths(pulls: PullRequests) -> dict[int, list[str]]:
    listed = pulls.list_merged(REPOSITORY, DAY).pulls
    with ThreadPoolExecutor(16) as pool:
        loaded = list(pool.map(pulls.load_files, listed))
    return {pull.number: [file.path for file in pull.files or ()] for pull in loaded}


EXPECTED = {n: [f"of/{n}.py"] for n in range(1, 41)}


def test_github_app_credentials_work(app: Env, github: ScriptedGitHub) -> None:
    with open_base() as base:
        assert paths(base.pulls) == EXPECTED
    assert github.calls_to("/app/installations/42/access_tokens")


def test_the_key_of_an_app_may_be_a_file(app: Env, tmp_path: Path, private_key: str) -> None:
    (tmp_path / "key.pem").write_text(private_key)
    app.setenv("GITHUB_APP_PRIVATE_KEY", str(tmp_path / "key.pem"))
    with open_base() as base:
        assert numbers(base) == EXPECTED.keys()


def test_the_key_of_an_app_may_be_on_one_line(app: Env, private_key: str) -> None:
    app.setenv("GITHUB_APP_PRIVATE_KEY", private_key.replace("\n", "\\n"))
    with open_base() as base:
        assert numbers(base) == EXPECTED.keys()


@pytest.mark.parametrize("key", ["no-such-file.pem", "."])
def test_a_key_that_is_neither_key_nor_file_names_its_setting(app: Env, key: str) -> None:
    app.setenv("GITHUB_APP_PRIVATE_KEY", key)
    with open_base() as base, pytest.raises(UsageError, match="GITHUB_APP_PRIVATE_KEY") as caught:
        _ = base.pulls
    assert is_one_sentence(str(caught.value))


def test_an_installation_that_there_is_not_is_no_missing_repository(app: Env, github: ScriptedGitHub) -> None:
    github.fail_next("404", match="/access_tokens")
    with open_base() as base, pytest.raises(ConfigurationError, match="GITHUB_APP_INSTALLATION_ID") as caught:
        base.pulls.list_merged(REPOSITORY, DAY)
    assert is_one_sentence(str(caught.value))


def test_a_damaged_key_names_its_setting(app: Env) -> None:
    app.setenv("GITHUB_APP_PRIVATE_KEY", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n")
    with open_base() as base, pytest.raises(PrdigestError, match="GITHUB_APP_PRIVATE_KEY"):
        base.pulls.list_merged(REPOSITORY, DAY)


def test_an_app_without_its_key_says_what_to_set(app: Env) -> None:
    app.delenv("GITHUB_APP_PRIVATE_KEY")
    with open_base() as base, pytest.raises(UsageError, match="Set GITHUB_APP_PRIVATE_KEY"):
        _ = base.pulls


def test_a_token_goes_before_an_app(app: Env, github: ScriptedGitHub) -> None:
    app.setenv("GITHUB_TOKEN", github.token)
    with open_base() as base:
        assert numbers(base) == EXPECTED.keys()
    assert github.calls_to("/app") == []


def test_without_credentials_it_says_what_to_set() -> None:
    with open_base() as base, pytest.raises(UsageError, match="Set GITHUB_TOKEN") as caught:
        _ = base.pulls
    assert "GITHUB_APP_" in str(caught.value)


def test_without_a_slack_token_it_says_what_to_set() -> None:
    with (
        open_base() as base,
        pytest.raises(UsageError, match=r"Set SLACK_BOT_TOKEN to the bot's token \(xoxb-…\)\."),
    ):
        _ = base.messenger


def test_a_model_needs_its_key(monkeypatch: Env) -> None:
    with open_base() as base:
        assert base.sources.model is None
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    with open_base() as base:
        assert base.sources.model


def test_a_publisher_refuses_a_store_that_may_drop_records(monkeypatch: Env, store: Redis, store_url: str) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-test")
    monkeypatch.setenv("REDIS_URL", store_url)
    store.config_set("maxmemory-policy", "allkeys-lru")
    try:
        with open_base() as base, pytest.raises(StoreUnavailable, match="allkeys-lru"):
            _ = base.tables
    finally:
        store.config_set("maxmemory-policy", "noeviction")


def test_what_was_never_used_is_closed_without_a_word(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with open_base():
        pass
    assert (capfd.readouterr(), caplog.messages) == (("", ""), [])


def test_the_embedded_store_stays_however_long_the_list_of_the_day_takes(
    monkeypatch: Env, tmp_path: Path, github: ScriptedGitHub
) -> None:
    github.add(REPO, record(1, merged_at=NOON))
    state = tmp_path / "state"
    monkeypatch.setenv("PRDIGEST_STATE_DIR", str(state))
    monkeypatch.setenv("GITHUB_TOKEN", github.token)
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    with connect_server(start_embedded_url(state)) as earlier_command:
        earlier_command.ping()
        time.sleep(LINGER_SECONDS / 5)
    with open_base() as base:
        pulls = base.pulls
        github.latency = LINGER_SECONDS + 1
        (pull,) = pulls.list_merged(REPOSITORY, DAY).pulls
        github.latency = 0.0
        assert pulls.load_files(pull).files


# --- what the bot speaks of, and with whom


ENGINE, OTHER, THIRD = (Repository("octo", name) for name in ("engine", "other", "third"))
SPOKEN_OF: dict[str, tuple[dict[str, str], AllowedRepositories]] = {
    "one": ({"PRDIGEST_REPO": "octo/engine"}, AllowedRepositories(ENGINE)),
    "others": (
        {"PRDIGEST_REPO": "octo/engine", "PRDIGEST_REPOS": "octo/other,octo/third"},
        AllowedRepositories(ENGINE, (OTHER, THIRD)),
    ),
    "a list alone": ({"PRDIGEST_REPOS": "octo/other octo/engine"}, AllowedRepositories(OTHER, (ENGINE,))),
}


@pytest.mark.parametrize(("settings", "expected"), SPOKEN_OF.values(), ids=SPOKEN_OF)
def test_the_first_repository_is_the_one_that_is_meant_without_a_name(
    monkeypatch: Env, store: Redis, settings: dict[str, str], expected: AllowedRepositories
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert make_app(store, settings=load_settings()).repositories == expected


def test_without_a_repository_it_says_what_to_do_until_somebody_subscribes(store: Redis) -> None:
    app = make_app(store, settings=load_settings())
    with pytest.raises(UsageError, match="No repository is chosen yet") as caught:
        _ = app.repositories
    assert is_one_sentence(str(caught.value))
    timing = Timing(dt.time(9), parse_zone("UTC"))
    subscription = Subscription("C0DIGEST", OTHER, timing, by="U0ADA")
    put_subscription(app, subscription)
    assert app.repositories == AllowedRepositories(OTHER)
    # who chose the wrong one ends that and chooses again, also where this process has spoken of it
    app.tables.remove_field(SUBSCRIPTIONS, subscription.id)
    with pytest.raises(UsageError, match="No repository is chosen yet"):
        _ = app.repositories
    put_subscription(app, replace(subscription, repository=THIRD))
    assert app.repositories == AllowedRepositories(THIRD)


NAMES: dict[str, tuple[dict[str, str], Repository, str]] = {
    "its own": ({"PRDIGEST_REPO": "octo/engine", "PRDIGEST_NAME": "The Engine"}, ENGINE, "The Engine"),
    "another's": ({"PRDIGEST_REPO": "octo/engine", "PRDIGEST_NAME": "The Engine"}, OTHER, "other"),
    "none": ({"PRDIGEST_REPO": "octo/engine"}, ENGINE, "engine"),
    "no repository": ({"PRDIGEST_NAME": "The Engine"}, ENGINE, "engine"),
}


@pytest.mark.parametrize(("settings", "repository", "expected"), NAMES.values(), ids=NAMES)
def test_the_name_of_the_settings_is_that_of_their_repository(
    monkeypatch: Env, settings: dict[str, str], repository: Repository, expected: str
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert get_display_name(load_settings(), repository) == expected


def test_today_is_the_day_in_the_zone_of_the_settings(monkeypatch: Env) -> None:
    monkeypatch.setenv("PRDIGEST_TIMEZONE", "America/Los_Angeles")
    with open_base() as base:
        assert base.get_today() == LocalDay(date(2026, 3, 1), parse_zone("America/Los_Angeles"))
    monkeypatch.setenv("PRDIGEST_TIMEZONE", "Pacific/Kiritimati")
    with open_base() as base:
        assert base.get_today() == LocalDay(date(2026, 3, 2), parse_zone("Pacific/Kiritimati"))


@pytest.fixture
def bot(monkeypatch: Env, slack: SlackEmulator, store: Redis, store_url: str) -> Env:
    store.ping()
    for name, value in {
        "REDIS_URL": store_url,
        "SLACK_BOT_TOKEN": slack.token,
        "SLACK_API_URL": slack.url,
    }.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_the_bots_own_workspace_may_ask_without_being_named(bot: Env) -> None:
    with open_base() as base:
        access_control = base.access_control
        assert access_control.explain_refusal(slack_request()) == ""
        assert access_control.explain_refusal(slack_request(team="T0ELSE"))


def test_other_workspaces_are_added_to_its_own(bot: Env) -> None:
    bot.setenv("PRDIGEST_ALLOWED_WORKSPACES", "T0PARTNER,E0GRID")
    with open_base() as base:
        access_control = base.access_control
        visits = [
            slack_request(),
            slack_request(team="T0PARTNER"),
            slack_request(team="T0ELSE", enterprise="E0GRID"),
            slack_request(team="T0ELSE"),
        ]
        assert [not access_control.explain_refusal(asked) for asked in visits] == [True, True, True, False]


def test_channels_people_and_the_limit_are_those_of_the_settings(bot: Env) -> None:
    bot.setenv("PRDIGEST_ALLOWED_CHANNELS", "C0DIGEST")
    bot.setenv("PRDIGEST_ALLOWED_USERS", "U0ASKER")
    bot.setenv("PRDIGEST_USER_LIMIT", "1")
    with open_base() as base:
        access_control = base.access_control
        visits = [slack_request(channel="C0ELSE"), slack_request(user="U0ELSE"), slack_request(), slack_request()]
        assert [not access_control.explain_refusal(asked) for asked in visits] == [False, False, True, False]


def test_who_may_ask_is_not_known_without_slack(bot: Env) -> None:
    bot.setenv("SLACK_BOT_TOKEN", "xoxb-wrong")
    with open_base() as base, pytest.raises(SlackCallRefused, match="SLACK_BOT_TOKEN"):
        _ = base.access_control


def test_the_hurried_store_is_the_same_store_with_less_patience(bot: Env) -> None:
    with open_base() as base:
        base.store.set("key", "value")
        assert base.hurry().store.get("key") == b"value"
        pools = [client.connection_pool.connection_kwargs for client in (base.hurry().store, base.store)]
        hurried, patient = (pool["socket_timeout"] for pool in pools)
        assert hurried < patient


def test_the_hurried_store_refuses_one_that_may_drop_jobs(bot: Env, store: Redis) -> None:
    store.config_set("maxmemory-policy", "allkeys-lru")
    try:
        with open_base() as base, pytest.raises(StoreUnavailable, match="allkeys-lru"):
            _ = base.hurry().store
    finally:
        store.config_set("maxmemory-policy", "noeviction")


def test_the_hurried_store_may_be_the_embedded_one(monkeypatch: Env, tmp_path: Path) -> None:
    monkeypatch.setenv("PRDIGEST_STATE_DIR", str(tmp_path / "state"))
    with open_base() as base:
        RedisCache(base.hurry().store, base.keyspace).put("key", "value", timedelta(hours=1))
        assert base.cache.get("key") == "value"


def test_a_hurried_store_that_is_away_is_told_in_one_sentence(monkeypatch: Env) -> None:
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{closed_port()}/0")
    with open_base() as base, pytest.raises(StoreUnavailable) as caught:
        _ = base.hurry().store
    assert is_one_sentence(str(caught.value))


def test_answers_are_remembered_for_a_day_and_not_for_ever(bot: Env, store: Redis) -> None:
    with open_base() as base:
        base.replies.tell_asker(slack_request(), "Hello.")
    (key,) = store.scan_iter("answer:*")
    assert 86_000 < int(str(store.ttl(key))) <= 86_400


@pytest.mark.parametrize(
    ("name", "value"), [("PRDIGEST_SUMMARY_MODEL", "claude-sonnet-5-5"), ("PRDIGEST_DIFF_TOKENS", "20000")]
)
def test_what_an_entry_depends_on_makes_it_another_one(
    merges: Env, claude: ClaudeEmulator, name: str, value: str
) -> None:
    merges.setenv("ANTHROPIC_API_KEY", claude.api_key)
    merges.setenv("ANTHROPIC_BASE_URL", claude.url)
    seven = Reference(REPOSITORY, 7)
    with open_base() as base:
        get_entry(base, seven)
    with open_base() as base:
        assert get_cached_entry(base, seven)
    merges.setenv(name, value)
    with open_base() as base:
        assert get_cached_entry(base, seven) is None


# --- which paths are what


def test_a_file_of_path_classes_makes_entries_anew(
    merges: Env, claude: ClaudeEmulator, tmp_path: Path, github: ScriptedGitHub
) -> None:
    merges.setenv("ANTHROPIC_API_KEY", claude.api_key)
    merges.setenv("ANTHROPIC_BASE_URL", claude.url)
    seven = Reference(REPOSITORY, 7)

    def area() -> str:
        with open_base() as base:
            return get_entry(base, seven).area

    assert area() == "Of"
    merges.setenv("PRDIGEST_PATHS", "paths.toml")
    for kind, expected in {"docs": "Documentation", "ci": "CI and tests", "product": "Of"}.items():
        (tmp_path / "paths.toml").write_text(f'["Octo/Engine"]\n{kind} = ["of/"]')
        assert area() == expected
    calls = len(github.calls_to("/graphql"))
    assert area() == "Of"
    assert len(github.calls_to("/graphql")) == calls, "what was read with these classes is kept"


def test_every_service_goes_by_the_file_of_path_classes(
    merges: Env, github: ScriptedGitHub, tmp_path: Path
) -> None:
    github.add(REPO, record(90, merged_at=NOON, files=[changed_file("of/much.py", additions=900, deletions=900)]))
    # what is listed in Slack is of a repository of the settings
    merges.setenv("PRDIGEST_REPO", REPO)
    ninety, risky = Reference(REPOSITORY, 90), RisksRequest(REPOSITORY, parse_span("2026-02-28", DAY, 1))

    def read_observations() -> tuple[bool, str, str, list[int], bool]:
        with open_base() as base:
            digests = base
            answers = Answers(base)
            builder = partial(build_digest, base, use=DigestUse.TERMINAL)
            is_listed = "/pull/90" in str(answers.build_risks(risky, "U0ASKER").public)
            impact = get_entry(digests, ninety).summary.technical_impact
            digest = [entry.number for entry in builder(REPOSITORY, DAY, "Engine").riskiest_entries]
            rated = digests.timeline.assess_risk(pull(90, files=[of_product("of/much.py", 900, 900)])).is_listed
            return (
                is_listed,
                impact.rpartition(": ")[2],
                ReadingSession(base, DAY, ThreadSubject(ninety.repository, parse_span("yesterday", DAY, 1)))
                .get_entry(ninety.repository, 90)
                .area,
                digest,
                rated,
            )

    assert read_observations() == (True, "1 product.", "Of", [90], True)
    merges.setenv("PRDIGEST_PATHS", "paths.toml")
    (tmp_path / "paths.toml").write_text('["*"]\ndocs = ["of/"]')
    assert read_observations() == (False, "1 docs.", "Documentation", [], False)


def test_a_file_of_path_classes_that_can_not_be_used_stops_the_bot_before_its_first_job(bot: Env) -> None:
    bot.setenv("GITHUB_TOKEN", "ghp_test")
    bot.setenv("PRDIGEST_PATHS", "nowhere.toml")
    with (
        open_base() as base,
        pytest.raises(ConfigurationError, match=r"^PRDIGEST_PATHS, nowhere\.toml: ") as caught,
    ):
        prepare_worker(base)
    assert is_one_sentence(str(caught.value))


def test_a_question_that_is_given_up_leaves_no_button_that_stops_nothing(bot: Env, slack: SlackEmulator) -> None:
    slack.declare_agent()
    thread = slack.add_message("C0DIGEST", "Why?", "U0ASKER")
    asked = slack_request(f"mention:C0DIGEST:{thread}", thread=thread, message=thread)
    with open_base() as base:
        # as the process did that died over it
        base.slack.agents_sessions_setStatus(channel_id="C0DIGEST", thread_ts=thread, status="processing")
        place = f"C0DIGEST:{thread}"
        base.tables.enqueue(QUESTIONS, Question(asked, "Why?", thread), float(thread), place, least=0)
        assert slack.can_stop_session("C0DIGEST", thread)
        assert abandon_question(base, place, "I gave up.")
    assert not slack.can_stop_session("C0DIGEST", thread)
