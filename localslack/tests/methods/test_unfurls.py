from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

import pytest
from slack_sdk import WebClient

from localslack.blockkit.names import Names
from localslack.blockkit.render import render_message
from localslack.testing.emulator import SlackEmulator
from localslack.users.person import Person
from localslack.users.transport import Ack
from tests.client import HOME, Json, client_of, refusal

URL = "https://git.example/octo/engine/pull/7?a=1&b=2"
CARD: Json = {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "A *card*"}}]}


@dataclass
class Listener:
    """A transport that keeps what it is given, and answers with ``status``."""

    status: int = 200
    events: list[Json] = field(default_factory=list)

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Ack:
        assert kind == "events_api"
        self.events.append(payload["event"])
        return Ack(self.status, "", 0.0)

    @property
    def shared(self) -> list[Json]:
        return [event for event in self.events if event["type"] == "link_shared"]


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator() as slack:
        slack.watch_domains({"git.example"})
        yield slack


@pytest.fixture
def web(slack: SlackEmulator) -> WebClient:
    return client_of(slack)


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def ada(slack: SlackEmulator, listener: Listener) -> Person:
    return Person(slack, listener)


def test_the_app_is_told_of_the_links_of_its_domains_alone(ada: Person, listener: Listener) -> None:
    ada.send_message(
        f"see {URL} and {URL} and https://sub.git.example/x and https://git.example.evil.test/x "
        "and https://git.example@evil.test/x"
    )
    (event,) = listener.shared
    assert event["links"] == [
        {"domain": "git.example", "url": URL},
        {"domain": "git.example", "url": "https://sub.git.example/x"},
    ]
    assert event["source"] == "conversations_history"
    assert event["is_bot_user_member"] is True
    assert event["unfurl_id"]


def test_nothing_is_told_without_the_scope_or_without_domains(slack: SlackEmulator, ada: Person) -> None:
    slack.watch_domains(set())
    assert ada.share_links(HOME, ada.send_message(URL).payload["event"]["ts"]) is None
    with SlackEmulator(scopes=frozenset({"chat:write"})) as strict:
        strict.watch_domains({"git.example"})
        assert strict.share_links(HOME, strict.add_message(HOME, URL)) is None


def test_a_card_is_shown_replaced_and_drawn(slack: SlackEmulator, web: WebClient, ada: Person) -> None:
    ts = ada.send_message(URL).payload["event"]["ts"]
    web.chat_unfurl(channel=HOME, ts=ts, unfurls={URL: {"blocks": [{"type": "divider"}]}})
    web.chat_unfurl(channel=HOME, ts=ts, unfurls={URL: CARD})
    message = slack.get_message(HOME, ts)
    (shown,) = message["attachments"]
    assert shown["is_app_unfurl"]
    assert shown["app_unfurl_url"] == shown["from_url"] == URL
    assert (shown["bot_id"], shown["app_id"]) == ("B0LOCAL", "A0LOCAL")
    assert "A <strong>card</strong>" in str(render_message(message, Names({}, {}, UTC)))


def test_a_card_by_the_id_of_the_event(
    slack: SlackEmulator, web: WebClient, ada: Person, listener: Listener
) -> None:
    ts = ada.send_message(URL).payload["event"]["ts"]
    (event,) = listener.shared
    web.chat_unfurl(unfurl_id=event["unfurl_id"], source=event["source"], unfurls={URL: CARD})
    assert len(slack.get_message(HOME, ts)["attachments"]) == 1
    typed = ada.type_links(URL)
    assert typed
    event = typed.payload["event"]
    assert (event["channel"], event["source"]) == ("COMPOSER", "composer")
    web.chat_unfurl(unfurl_id=event["unfurl_id"], source="composer", unfurls={URL: CARD})
    assert refusal(lambda: web.chat_unfurl(channel="COMPOSER", ts=event["message_ts"], unfurls={URL: CARD}))


def test_the_card_of_another_app_stays_beside_ours(slack: SlackEmulator, web: WebClient, ada: Person) -> None:
    ts = ada.send_message(URL).payload["event"]["ts"]
    slack.unfurl_as_another_app(HOME, ts, URL)
    web.chat_unfurl(channel=HOME, ts=ts, unfurls={URL: CARD})
    owners = [each["app_id"] for each in slack.get_message(HOME, ts)["attachments"]]
    assert owners == ["A0OTHER", "A0LOCAL"]


Arguments = Callable[[str], dict[str, Any]]
REFUSALS: dict[str, Arguments] = {
    "missing_channel": lambda ts: {"ts": ts, "unfurls": {URL: CARD}},
    "missing_ts": lambda ts: {"channel": HOME, "unfurls": {URL: CARD}},
    "missing_unfurls": lambda ts: {"channel": HOME, "ts": ts},
    "missing_source": lambda ts: {"unfurl_id": "x", "unfurls": {URL: CARD}},
    "missing_unfurl_id": lambda ts: {"source": "composer", "unfurls": {URL: CARD}},
    "invalid_source": lambda ts: {"unfurl_id": "x", "source": "elsewhere", "unfurls": {URL: CARD}},
    "invalid_unfurl_id": lambda ts: {"unfurl_id": "x", "source": "composer", "unfurls": {URL: CARD}},
    "invalid_unfurls_format": lambda ts: {"channel": HOME, "ts": ts, "unfurls": "no json"},
    "cannot_parse_attachment": lambda ts: {"channel": HOME, "ts": ts, "unfurls": {URL: {}}},
    "invalid_blocks": lambda ts: {"channel": HOME, "ts": ts, "unfurls": {URL: {"blocks": [{"type": "odd"}]}}},
    "cannot_find_channel": lambda ts: {"channel": "C0NONE", "ts": ts, "unfurls": {URL: CARD}},
    "cannot_find_message": lambda ts: {"channel": HOME, "ts": "1.000001", "unfurls": {URL: CARD}},
    "cannot_unfurl_message": lambda ts: {"channel": HOME, "ts": ts, "unfurls": {"https://git.example/x": CARD}},
}


@pytest.mark.parametrize("error", REFUSALS)
def test_what_slack_refuses(web: WebClient, ada: Person, error: str) -> None:
    ts = ada.send_message(URL).payload["event"]["ts"]
    answer = refusal(lambda: web.api_call("chat.unfurl", json=REFUSALS[error](ts)))
    assert answer["error"] == error


def test_a_link_that_was_not_acknowledged_or_is_of_another_domain_is_refused(
    slack: SlackEmulator, web: WebClient, ada: Person, listener: Listener
) -> None:
    listener.status = 500
    ts = ada.send_message(f"{URL} https://other.example/x").payload["event"]["ts"]
    for url in (URL, "https://other.example/x"):
        answer = refusal(lambda url=url: web.chat_unfurl(channel=HOME, ts=ts, unfurls={url: CARD}))  # type: ignore[misc]
        assert answer["error"] == "cannot_unfurl_url"


def test_the_method_needs_its_scope() -> None:
    with SlackEmulator(scopes=frozenset({"links:read"})) as slack:
        answer = refusal(lambda: client_of(slack).chat_unfurl(channel=HOME, ts="1.0", unfurls={URL: CARD}))
    assert (answer["error"], answer["needed"]) == ("missing_scope", "links:write")
