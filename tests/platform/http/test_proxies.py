"""Proxies of the environment: no key and no code crosses one in plain text, and SOCKS is named."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from bot.errors import ConfigurationError
from bot.platform.http.connections import find_proxy, make_tracking_opener
from bot.platform.models import ModelAccess
from bot.platform.models.claude import CLAUDE
from bot.platform.models.openai_compatible import CONTEXT_TOKENS, OPENAI_COMPATIBLE
from bot.platform.slack.client import make_slack_client
from tests.emulators.claude.script import Text
from tests.emulators.openai_compatible.server import OpenAIEmulator
from tests.helpers import builders
from tests.helpers.checks import is_one_sentence
from tests.helpers.world import World, add_small_day, world
from tests.platform.http.test_bounded_calls import github_at
from tests.platform.models.openai_compatible.asking import CHAT, complete, talk

PROXY = "@".join(("http://user:word", "proxy.example:3128"))
VARIABLES = ("http_proxy", "https_proxy", "all_proxy")

NEAR = [
    "http://models.example.com/v1",
    "http://127.0.0.1:8000/v1",
    "https://127.0.0.1:8000/v1",
    "https://localhost/v1",
    "https://models.localhost/v1",
    "https://vllm:8000/v1",
    "https://vllm.models.svc/v1",
    "https://vllm.models.svc.cluster.local/v1",
    "https://gpu.internal/v1",
    "https://10.1.2.3/v1",
    "https://172.16.0.9/v1",
    "https://192.168.7.7:8443/v1",
    "https://169.254.1.1/v1",
    "https://[::1]:8000/v1",
    "https://[fd00::1]/v1",
    "https://skipped.example.com/v1",
    "https://a.skipped.example.com:8443/v1",
]
FAR = [
    "https://models.example.com/v1",
    "https://api.github.com/graphql",
    "https://8.8.8.8/v1",
    "wss://wss.slack.com",
]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, PROXY)
    monkeypatch.setenv("no_proxy", "skipped.example.com")


@pytest.mark.parametrize("address", NEAR)
def test_what_is_near_or_not_encrypted_takes_no_proxy(address: str) -> None:
    assert find_proxy(address) is None


@pytest.mark.parametrize("address", FAR)
def test_what_is_far_takes_the_proxy_of_the_environment(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_proxy(address) == PROXY
    monkeypatch.setenv("https_proxy", "proxy.example:3128")
    assert find_proxy(address) == "http://proxy.example:3128"
    for name in VARIABLES:
        monkeypatch.delenv(name)
    assert find_proxy(address) is None


@contextmanager
def listening_proxy() -> Iterator[tuple[str, list[bytes]]]:
    """A proxy that hears what is sent to it, and answers nothing."""
    heard = list[bytes]()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        heard.append(connection.recv(65_536))

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", heard
        listener.shutdown(socket.SHUT_RDWR)


def test_no_client_sends_what_is_not_encrypted_through_a_proxy(
    model_server: OpenAIEmulator, site: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening_proxy() as (address, heard):
        for name in VARIABLES:
            monkeypatch.setenv(name, address)
        assert complete(model_server, Text('{"a": 1}')).text == '{"a": 1}'
        assert talk(model_server, Text("Much.")).words == "Much."
        access = ModelAccess("key-of-the-server", model_server.address, {CONTEXT_TOKENS: None})
        assert OPENAI_COMPATIBLE.find_models(access, [CHAT.model], 5) == {CHAT.model: True}
        claude = ModelAccess(site.settings["ANTHROPIC_API_KEY"], site.settings["ANTHROPIC_BASE_URL"])
        assert CLAUDE.find_models(claude, ["claude-haiku-5-5"], 5) == {"claude-haiku-5-5": True}
        github = github_at(site.settings["GITHUB_API_URL"])
        assert github.fetch_pull_request(builders.REPOSITORY, 101).number == 101
        slack = make_slack_client(site.settings["SLACK_BOT_TOKEN"], site.settings["SLACK_API_URL"])
        assert slack.auth_test()["ok"]
        assert heard == []


def test_what_is_encrypted_asks_the_proxy_for_a_tunnel_and_shows_it_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    acts: list[Callable[[], object]] = [
        lambda: OPENAI_COMPATIBLE.find_models(
            ModelAccess("SECRET", "https://models.example.com/v1", {CONTEXT_TOKENS: None}), ["m"], 2
        ),
        lambda: CLAUDE.find_models(ModelAccess("SECRET", "https://api.example.com"), ["m"], 2),
        lambda: github_at("https://github.example.com/api/v3").fetch_pull_request(builders.REPOSITORY, 101),
        lambda: make_slack_client("xoxb-SECRET", "https://slack.example.com/api/", 2).auth_test(),
    ]
    for act in acts:
        with listening_proxy() as (address, heard):
            for name in VARIABLES:
                monkeypatch.setenv(name, address)
            with suppress(Exception):
                act()
            assert heard
            assert all(each.startswith(b"CONNECT ") and b"SECRET" not in each for each in heard)


@pytest.mark.parametrize(
    "proxy", ["socks5://127.0.0.1:1080", "socks5h://127.0.0.1:1080", "SOCKS4://127.0.0.1:1080"]
)
def test_a_socks_proxy_is_named_in_one_sentence(
    proxy: str, model_server: OpenAIEmulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, proxy)
    far: list[Callable[[], object]] = [
        lambda: OPENAI_COMPATIBLE.connect(ModelAccess("key", "https://models.example.com/v1", {})),
        lambda: CLAUDE.connect(ModelAccess("key", "https://api.example.com")),
        lambda: make_tracking_opener().open("https://slack.example.com"),
    ]
    for act in far:
        with pytest.raises(ConfigurationError) as caught:
            act()
        assert "SOCKS" in str(caught.value)
        assert is_one_sentence(str(caught.value))
    # what needs no proxy works all the same
    assert complete(model_server, Text('{"a": 1}')).text == '{"a": 1}'


@pytest.fixture
def model_server() -> Iterator[OpenAIEmulator]:
    with OpenAIEmulator() as emulator:
        yield emulator


@pytest.fixture
def site(store_url: str) -> Iterator[World]:
    with world(store_url) as there:
        add_small_day(there.github)
        yield there
