"""``python -m localslack`` before a bot of somebody's, both as processes; the person uses the page's endpoints."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from localslack.cli import main
from tests.processes import run_module
from tests.waiting import eventually

Json = dict[str, Any]
HOME = "C0GENERAL"
MANIFEST: Json = {
    "display_information": {"name": "Greeter"},
    "features": {
        "bot_user": {"display_name": "greeter"},
        "slash_commands": [{"command": "/hello", "description": "Say hello", "usage_hint": "[name]"}],
    },
    "oauth_config": {"scopes": {"bot": ["app_mentions:read", "chat:write", "commands"]}},
}


def free_port() -> int:
    """Return a port on which nobody listens now."""
    with closing(socket.socket()) as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        return int(free_socket.getsockname()[1])


@dataclass(frozen=True, slots=True)
class Browser:
    """Somebody who has opened the page."""

    port: int
    cookie: str

    @classmethod
    def open(cls, address: str) -> Browser:
        url = urlsplit(address)
        assert url.port
        with cls(url.port, "")._ask("GET", f"/?{url.query}") as answer:
            assert answer.status == 303
            return cls(url.port, str(answer.getheader("Set-Cookie")).partition(";")[0])

    def do(self, deed: str, **values: Any) -> Json:
        """Do something, as the page's script sends it; what the person reads at once."""
        with self._ask("POST", f"/do/{deed}", json.dumps(values)) as answer:
            reply: Json = json.loads(answer.read())
            return reply

    def look(self, thread: str = "") -> Json:
        """Return what the page shows of the channel now."""
        with self._ask("GET", f"/live?place={HOME}&thread={thread}") as answer:
            line = next(line for line in answer if line.startswith(b"data: "))
            content: Json = json.loads(line[6:])
            return content

    def find(self, text: str, thread: str = "") -> Json:
        """Return the first piece with this text as soon as it is shown."""
        shown = "thread" if thread else "pieces"
        piece: Json = eventually(
            lambda: next((each for each in self.look(thread)[shown] if text in each["html"]), None)
        )
        return piece

    def read(self, path: str) -> str:
        with self._ask("GET", path) as answer:
            return answer.read().decode()

    @contextmanager
    def _ask(self, method: str, path: str, body: str | None = None) -> Iterator[HTTPResponse]:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            headers = {"Content-Type": "application/json", "Cookie": self.cookie}
            connection.request(method, path, body, headers)
            with connection.getresponse() as answer:
                yield answer


@pytest.fixture(params=["http", "socket"])
def browser(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Browser]:
    """A browser before a local Slack with the bot in it."""
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps(MANIFEST))
    port = free_port()
    over_http = ("--bot-url", f"http://127.0.0.1:{port}/slack/events", "--signing-secret", "a-secret")
    way = over_http if request.param == "http" else ("--socket-mode",)
    own = ("--manifest", str(manifest), "--port", "0", "--api-port", "0")
    with run_module("localslack", *way, *own, output=tmp_path / "slack.txt") as slack:
        address = slack.find(r"Open (http://\S+)")
        names = ("SLACK_API_URL", "SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_APP_TOKEN")
        printed = {name: slack.find(rf"{name}=(\S+)") for name in names if f"{name}=" in slack.text}
        assert len(printed) == 3
        with run_module("tests.hello_bot", output=tmp_path / "bot.txt", PORT=str(port), **printed) as bot:
            bot.find("(Bolt app is running)")
            yield Browser.open(address)
        assert slack.interrupt() == 0
        assert "Traceback" not in slack.text


def test_a_command_a_button_and_a_mention_reach_the_bot_and_its_answers_the_page(browser: Browser) -> None:
    assert "/hello" in browser.read("/")
    assert "<title>greeter in a local Slack</title>" in browser.read("/")

    assert eventually(lambda: not browser.do("say", place=HOME, text="/hello Ada")["notice"])
    greeting = browser.find("Wave")
    assert 'data-action="wave" data-block="greeting"' in greeting["html"]
    assert json.loads(browser.read(f"/source/{HOME}/{greeting['key']}"))["text"] == "Hello Ada"

    pressed = browser.do("press", place=HOME, ts=greeting["key"], action="wave", block="greeting", value="5")
    assert pressed["notice"] == ""
    assert browser.find("Waved 5 times")["key"] == greeting["key"]

    asked = browser.do("say", place=HOME, text="@greeter how are you?")
    assert asked["notice"] == ""
    browser.find("how are you?", thread=asked["thread"])
    answer = browser.find("You said:", thread=asked["thread"])
    assert "how are you?" in answer["html"]
    assert "None: the local Slack took all that the bot sent." in browser.read("/calls")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "How does the bot receive requests? Pass --bot-url http://..., or --socket-mode."),
        (["--bot-url", "http://127.0.0.1:1", "--socket-mode"], "How does the bot receive requests?"),
        (["--bot-url", "https://bot.example"], "use an http:// address"),
        (["--bot-url", "http://127.0.0.1:1", "--command", "hello"], "'hello' is not a command"),
        (["--bot-url", "http://127.0.0.1:1", "--manifest", "nowhere.json"], "nowhere.json"),
        (["--bot-url", "http://127.0.0.1:1", "--timezone", "Mars/North"], "'Mars/North' is not a time zone"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_said_in_a_sentence(arguments: list[str], sentence: str) -> None:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())
    assert "Traceback" not in done.output


@pytest.mark.parametrize("text", ["{", "[]", "name: yaml", '{"features": {"slash_commands": [{}]}}', "[" * 9_999])
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    done = CliRunner().invoke(main, ["--bot-url", "http://127.0.0.1:1", "--manifest", "manifest.json"])
    assert done.exit_code == 2
    assert "The file is not a Slack app manifest in JSON." in " ".join(done.output.split())


def test_a_port_that_is_used_is_said(tmp_path: Path) -> None:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        arguments = ("--bot-url", "http://127.0.0.1:1", "--port", "0", "--api-port", port)
        with run_module("localslack", *arguments, output=tmp_path / "slack.txt") as slack:
            assert slack.process.wait(timeout=20) == 1
    assert "choose other ports with --port and --api-port" in slack.text
    assert "Traceback" not in slack.text
