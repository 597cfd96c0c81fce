"""A page before a local Slack whose app answers what a test says."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from localslack.blockkit import Names
from localslack.manifest import Shortcut, ShortcutKind, SlashCommand
from localslack.page.about import About, Fact, Suggestion
from localslack.page.connection import Connection
from localslack.page.screen import PageConversation, Screen
from localslack.page.server import Page
from localslack.page.visitor import Visitor
from localslack.server.local_slack import LocalSlack
from localslack.state.identity import BOT_USER
from localslack.users.person import Person
from tests.tiny_app import Scripted

HOME, YOU, DIRECT = "C0GENERAL", "U0YOU", "D0YOU"
TOKEN = "the-token"
Json = dict[str, Any]
NOTE = Shortcut("note", "Take <note>", ShortcutKind.GLOBAL)
EXPLAIN = Shortcut("explain", "Explain <this>", ShortcutKind.MESSAGE)


@dataclass(frozen=True)
class Answer:
    """What the server said; nothing of a stream."""

    status: int
    headers: dict[str, str]
    text: str


@dataclass
class Stage:
    """All that a test of the page needs. ``bot`` is what the app has heard and what it answers."""

    slack: LocalSlack
    visitor: Visitor
    screen: Screen
    page: Page
    bot: Scripted

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """One request, as a browser of this machine sends it unless ``headers`` say otherwise."""
        usual = {"Content-Type": "application/json"} if method == "POST" else {}
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        with closing(self._connection()) as connection:
            known = {"Cookie": self.cookie, **usual, **(headers or {})}
            connection.request(method, path, sent if method == "POST" else None, known)
            with connection.getresponse() as response:
                streams = response.headers.get("Content-Type", "").startswith("text/event-stream")
                return Answer(response.status, dict(response.headers), "" if streams else response.read().decode())

    @contextmanager
    def live(self, path: str) -> Iterator[Iterator[Json]]:
        """The screens as they come."""
        with closing(self._connection()) as connection:
            connection.request("GET", path, headers={"Cookie": self.cookie})
            with connection.getresponse() as answer:
                yield (json.loads(line[6:]) for line in answer if line.startswith(b"data: "))

    @property
    def cookie(self) -> str:
        return f"localslack-{self.port}={TOKEN}"

    @property
    def port(self) -> int:
        return int(self.page.url.rpartition(":")[2])

    def _connection(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=5)

    def do(self, deed: str, **asked: Any) -> Json:
        """What the page is told when somebody does something."""
        reply: Json = json.loads(self.ask("POST", f"/do/{deed}", asked).text)
        return reply


@pytest.fixture
def stage() -> Iterator[Stage]:
    bot, connection = Scripted(), Connection()
    connection.connect(bot)
    with LocalSlack(bot_name="helper") as slack:
        commands, shortcuts = [SlashCommand("/echo", "text", "Say")], [NOTE, EXPLAIN]
        visitor = Visitor(slack, Person(slack, connection, YOU, "you"), commands, shortcuts=shortcuts)
        slack.get_channel(DIRECT)
        names = Names({YOU: "You", BOT_USER: "helper"}, {HOME: "general"}, ZoneInfo("UTC"), reader=YOU)
        places = [PageConversation(HOME, "general"), PageConversation(DIRECT, "helper", mark="")]
        screen = Screen(slack, YOU, places, names, visitor.list_shortcuts(ShortcutKind.MESSAGE))
        about = About(
            "A title",
            "One line.",
            (Fact("Sample", "All of it."),),
            (Suggestion("/echo hi"), Suggestion("Why?", in_thread=True)),
        )
        with Page(slack, visitor, screen, about, TOKEN) as page:
            yield Stage(slack, visitor, screen, page, bot)
            page.close()
