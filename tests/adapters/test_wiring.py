"""The composition root: each service needs only its own settings, and says which one is missing."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from redis import Redis

from bot.adapters.embedded import embedded_url
from bot.adapters.keeper import LINGER
from bot.adapters.store import connect
from bot.config import load_settings
from bot.domain.errors import PrdigestError, StoreUnavailable, UsageError
from bot.ports import PullRequests
from bot.wiring import Wiring
from tests.adapters.worlds import MORNING, REPO, ScriptedGitHub
from tests.checks import is_one_sentence
from tests.emulators.github import changed_file
from tests.emulators.github import pull as record
from tests.support import DAY, NOON, REPOSITORY

Env = pytest.MonkeyPatch


def wired() -> Wiring:
    return Wiring(load_settings(), lambda: MORNING, time.sleep)


@pytest.fixture(scope="module")
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


@pytest.fixture
def app(monkeypatch: Env, github: ScriptedGitHub, store: Redis, store_url: str, private_key: str) -> Env:
    """The settings of a GitHub App, and a repository with forty merges."""
    store.ping()
    github.add(REPO, *(record(n, merged_at=NOON, files=[changed_file(f"of/{n}.py")]) for n in range(1, 41)))
    settings = {"REDIS_URL": store_url, "GITHUB_API_URL": github.url, "GITHUB_APP_ID": "7"}
    for name, value in {
        **settings,
        "GITHUB_APP_INSTALLATION_ID": "42",
        "GITHUB_APP_PRIVATE_KEY": private_key,
    }.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def paths(pulls: PullRequests) -> dict[int, list[str]]:
    """What sixteen threads read of the day."""
    listed = pulls.merged_on(REPOSITORY, DAY).pulls
    with ThreadPoolExecutor(16) as pool:
        loaded = list(pool.map(pulls.with_files, listed))
    return {pull.number: [file.path for file in pull.files or ()] for pull in loaded}


EXPECTED = {n: [f"of/{n}.py"] for n in range(1, 41)}


def test_github_app_credentials_work(app: Env, github: ScriptedGitHub) -> None:
    with closing(wired()) as wiring:
        assert paths(wiring.pulls) == EXPECTED
    assert github.calls_to("/app/installations/42/access_tokens")


def test_the_key_of_an_app_may_be_a_file(app: Env, tmp_path: Path, private_key: str) -> None:
    (tmp_path / "key.pem").write_text(private_key)
    app.setenv("GITHUB_APP_PRIVATE_KEY", str(tmp_path / "key.pem"))
    with closing(wired()) as wiring:
        assert paths(wiring.pulls) == EXPECTED


def test_the_key_of_an_app_may_be_on_one_line(app: Env, private_key: str) -> None:
    app.setenv("GITHUB_APP_PRIVATE_KEY", private_key.replace("\n", "\\n"))
    with closing(wired()) as wiring:
        assert paths(wiring.pulls) == EXPECTED


@pytest.mark.parametrize("key", ["no-such-file.pem", "."])
def test_a_key_that_is_neither_key_nor_file_names_its_setting(app: Env, key: str) -> None:
    app.setenv("GITHUB_APP_PRIVATE_KEY", key)
    with pytest.raises(UsageError, match="GITHUB_APP_PRIVATE_KEY") as caught:
        _ = wired().pulls
    assert is_one_sentence(str(caught.value))


def test_a_damaged_key_names_its_setting(app: Env) -> None:
    app.setenv("GITHUB_APP_PRIVATE_KEY", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n")
    with closing(wired()) as wiring, pytest.raises(PrdigestError, match="GITHUB_APP_PRIVATE_KEY"):
        wiring.pulls.merged_on(REPOSITORY, DAY)


def test_an_app_without_its_key_says_what_to_set(app: Env) -> None:
    app.delenv("GITHUB_APP_PRIVATE_KEY")
    with pytest.raises(UsageError, match="Set GITHUB_APP_PRIVATE_KEY"):
        _ = wired().pulls


def test_a_token_goes_before_an_app(app: Env, github: ScriptedGitHub) -> None:
    app.setenv("GITHUB_TOKEN", github.token)
    with closing(wired()) as wiring:
        assert paths(wiring.pulls) == EXPECTED
    assert github.calls_to("/app") == []


def test_without_credentials_it_says_what_to_set() -> None:
    with pytest.raises(UsageError, match="Set GITHUB_TOKEN") as caught:
        _ = wired().pulls
    assert "GITHUB_APP_" in str(caught.value)


def test_without_a_slack_token_it_says_what_to_set() -> None:
    with pytest.raises(UsageError, match=r"Set SLACK_BOT_TOKEN to the bot's token \(xoxb-…\)\."):
        _ = wired().publisher


def test_a_model_needs_its_key(monkeypatch: Env) -> None:
    assert not wired().has_model
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    assert wired().has_model


def test_a_publisher_refuses_a_store_that_may_drop_records(monkeypatch: Env, store: Redis, store_url: str) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-test")
    monkeypatch.setenv("REDIS_URL", store_url)
    store.config_set("maxmemory-policy", "allkeys-lru")
    try:
        with closing(wired()) as wiring, pytest.raises(StoreUnavailable, match="allkeys-lru"):
            _ = wiring.publisher
    finally:
        store.config_set("maxmemory-policy", "noeviction")


def test_what_was_never_used_is_closed_without_a_word() -> None:
    wired().close()


def test_the_embedded_store_stays_however_long_the_list_of_the_day_takes(
    monkeypatch: Env, tmp_path: Path, github: ScriptedGitHub
) -> None:
    github.add(REPO, record(1, merged_at=NOON))
    state = tmp_path / "state"
    monkeypatch.setenv("PRDIGEST_STATE_DIR", str(state))
    monkeypatch.setenv("GITHUB_TOKEN", github.token)
    monkeypatch.setenv("GITHUB_API_URL", github.url)
    with connect(embedded_url(state)) as earlier_command:
        earlier_command.ping()
        time.sleep(LINGER / 5)
    with closing(wired()) as wiring:
        pulls = wiring.pulls
        github.latency = LINGER + 1
        (pull,) = pulls.merged_on(REPOSITORY, DAY).pulls
        github.latency = 0.0
        assert pulls.with_files(pull).files
