"""The emulator's response_url, seen through the real webhook client."""

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from slack_sdk import WebClient
from slack_sdk.webhook import WebhookClient, WebhookResponse

from localslack.loopback import HangUp
from localslack.testing.emulator import SlackEmulator
from localslack.users.person import Person
from tests.client import HOME, Json, texts
from tests.parts import actions, button, section
from tests.tiny_app import Scripted

HALF_AN_HOUR = 30 * 60


def answer(url: str, **body: object) -> WebhookResponse:
    return WebhookClient(url, retry_handlers=[]).send_dict(body)


def outcome(response: WebhookResponse) -> tuple[int, str]:
    return response.status_code, str(response.body)


@pytest.fixture
def moment() -> list[float]:
    return [1_772_300_000.0]


@pytest.fixture
def slack(moment: list[float]) -> Iterator[SlackEmulator]:
    with SlackEmulator(now=lambda: moment[0]) as emulator:
        yield emulator


@pytest.fixture
def url(slack: SlackEmulator) -> str:
    return slack.make_response_url(HOME, "U0ASKER")


def test_an_answer_is_ephemeral_unless_it_says_otherwise(slack: SlackEmulator, url: str) -> None:
    assert outcome(answer(url, text="a", blocks=[section()])) == (200, "ok")
    assert outcome(answer(url, text="b", response_type="ephemeral")) == (200, "ok")
    first, second = slack.ephemerals
    assert (first["channel"], first["user"], first["blocks"]) == (HOME, "U0ASKER", [section()])
    assert (second["text"], second["response_url"]) == ("b", url)
    assert first["ts"] < second["ts"]
    assert slack.list_messages(HOME) == []
    assert slack.list_calls_to("response_url")[1] == {"text": "b", "response_type": "ephemeral", "url": url}


def test_that_of_a_message_shortcut_takes_five_answers_too(slack: SlackEmulator) -> None:
    person = Person(slack, Scripted())
    url = person.use_message_shortcut("explain", slack.add_message(HOME, "hi")).payload["response_url"]
    assert [outcome(answer(url, text=str(n))) for n in range(6)] == [(200, "ok")] * 5 + [(404, "used_url")]


@pytest.mark.parametrize("header", [{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_no_page_in_a_browser_can_answer(slack: SlackEmulator, url: str, header: dict[str, str]) -> None:
    asked = urllib.request.Request(url, b'{"text": "a", "response_type": "in_channel"}', header)
    with pytest.raises(urllib.error.HTTPError, match="403") as caught:
        urllib.request.urlopen(asked)
    caught.value.close()
    assert (slack.list_messages(HOME), slack.calls) == ([], [])


def test_nobody_can_guess_where_an_answer_or_a_file_goes(slack: SlackEmulator, web: WebClient, url: str) -> None:
    announced = web.files_getUploadURLExternal(filename="a.txt", length=1)
    for known in (url, announced["upload_url"]):
        guessed = known[:-1] + ("0" if known[-1] != "0" else "1")
        with pytest.raises(urllib.error.HTTPError, match="404") as caught:
            urllib.request.urlopen(guessed, b'{"text": "a"}')
        caught.value.close()
        assert len(known.rpartition("/")[2]) == 64
    assert slack.ephemerals == []


def test_it_has_the_shape_of_a_posted_one(slack: SlackEmulator, web: WebClient, url: str) -> None:
    web.chat_postEphemeral(channel=HOME, user="U0ASKER", text="a")
    answer(url, text="a")
    posted, answered = slack.ephemerals
    assert answered.keys() - posted.keys() == {"response_url"}
    assert posted.keys() <= answered.keys()


@pytest.mark.parametrize("channel", [HOME, "C0OUTSIDE", "D0OTHERS"])
def test_in_channel_everybody_sees_it_even_where_the_bot_is_not(slack: SlackEmulator, channel: str) -> None:
    slack.add_channel("C0OUTSIDE", "outside", member=False)
    answer(slack.make_response_url(channel, "U0ASKER"), text="x", response_type="in_channel")
    (message,) = slack.list_messages(channel)
    assert (message["text"], message["bot_id"]) == ("x", "B0LOCAL")


def test_an_answer_in_a_thread(slack: SlackEmulator) -> None:
    lead = slack.add_message(HOME, "lead")
    answer(slack.make_response_url(HOME, "U1", lead), text="a", response_type="in_channel")
    answer(slack.make_response_url(HOME, "U1"), text="b", response_type="in_channel", thread_ts=lead)
    answer(slack.make_response_url(HOME, "U1"), text="c", response_type="ephemeral", thread_ts=lead)
    assert texts(slack.list_replies(HOME, lead)) == ["a", "b"]
    assert slack.ephemerals[0]["thread_ts"] is None


# Limits


def test_five_answers_and_no_more(slack: SlackEmulator, url: str) -> None:
    assert [outcome(answer(url, text="x"))[0] for _ in range(5)] == [200] * 5
    assert outcome(answer(url, text="x")) == (404, "used_url")
    assert len(slack.ephemerals) == 5


@pytest.mark.parametrize(
    ("seconds", "expected_outcome"), [(HALF_AN_HOUR, (200, "ok")), (HALF_AN_HOUR + 1, (404, "expired_url"))]
)
def test_half_an_hour_and_no_longer(
    url: str, moment: list[float], seconds: float, expected_outcome: tuple[int, str]
) -> None:
    moment[0] += seconds
    assert outcome(answer(url, text="x")) == expected_outcome


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"text": ""}, "no_text"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"text": "x", "blocks": [{"type": "sparkle"}]}, "invalid_blocks"),
        ({"text": "x", "blocks": [section()] * 51}, "invalid_blocks"),
        ({"text": "x", "response_type": "public"}, "invalid_arguments"),
        ({"replace_original": True}, "no_text"),
        ({"delete_original": True}, "no_text"),  # there is no original
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_message_that_slack_would_not_take(slack: SlackEmulator, url: str, body: Json, code: str) -> None:
    assert outcome(answer(url, **body)) == (400, code)
    assert slack.ephemerals == []


@pytest.mark.parametrize("body", [b"text=x", b"[]", b""])
def test_a_body_that_is_not_an_object(url: str, body: bytes) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(urllib.request.Request(url, body))
    with caught.value as error:
        assert (error.code, error.read()) == (400, b"invalid_payload")


def test_an_address_that_was_never_given(url: str) -> None:
    assert outcome(answer(f"{url}0", text="x"))[0] == 404


# The message of a button

BALLOT = [section("old"), actions(button(action_id="vote"))]


def test_a_message_is_replaced_and_then_deleted(slack: SlackEmulator, web: WebClient) -> None:
    ts = str(web.chat_postMessage(channel=HOME, text="old", blocks=BALLOT)["ts"])
    url = slack.make_response_url(HOME, "U0ASKER", origin=ts)
    answer(url, text="new", replace_original=True)
    (message,) = slack.list_messages(HOME)
    assert (message["ts"], message["text"], message["edited"]["user"]) == (ts, "new", "U0BOT")
    assert "blocks" not in message
    answer(url, delete_original="true")
    assert slack.list_messages(HOME) == []
    assert outcome(answer(url, text="x", replace_original=True)) == (400, "message_not_found")


def test_an_ephemeral_message_is_replaced_and_then_deleted(slack: SlackEmulator, web: WebClient) -> None:
    web.chat_postEphemeral(channel=HOME, user="U0ASKER", text="old", blocks=BALLOT)
    ts = slack.ephemerals[0]["ts"]
    url = slack.make_response_url(HOME, "U0ASKER", origin=ts)
    answer(url, text="new", blocks=[section("new")], replace_original=True)
    (shown,) = slack.ephemerals
    assert (shown["ts"], shown["text"], shown["blocks"]) == (ts, "new", [section("new")])
    answer(url, delete_original=True)
    assert slack.ephemerals == []


def test_a_button_can_be_answered_beside_its_message(slack: SlackEmulator, web: WebClient) -> None:
    ts = str(web.chat_postMessage(channel=HOME, text="old")["ts"])
    answer(slack.make_response_url(HOME, "U0ASKER", origin=ts), text="thanks")
    assert texts(slack.list_messages(HOME)) == ["old"]
    assert texts(slack.ephemerals) == ["thanks"]


def test_the_answer_to_a_command_replaces_nothing(slack: SlackEmulator, url: str) -> None:
    answer(url, text="one")
    answer(url, text="two", replace_original=True)
    assert texts(slack.ephemerals) == ["one", "two"]


# Failures


@pytest.mark.parametrize(
    ("failure", "expected_outcome", "shown"),
    [
        ({"status": 503}, (503, "service_unavailable"), 0),
        ({"status": 503, "after_effect": True}, (503, "service_unavailable"), 1),
        ({"error": "rollup_error"}, (500, "rollup_error"), 0),
        ({"retry_after": 7}, (429, "ratelimited"), 0),
    ],
    ids=str,
)
def test_an_answer_can_fail(
    slack: SlackEmulator, url: str, failure: Json, expected_outcome: tuple[int, str], shown: int
) -> None:
    slack.fail_next("response_url", **failure)
    assert outcome(answer(url, text="x")) == expected_outcome
    assert len(slack.ephemerals) == shown


def test_hooks_and_latency_are_those_of_methods(slack: SlackEmulator, url: str) -> None:
    seen: list[tuple[str, str]] = []
    slack.latency = 0.05
    slack.before = lambda name, body: seen.append((name, body["text"]))
    started = time.monotonic()
    answer(url, text="x")
    assert time.monotonic() - started >= 0.05
    assert seen == [("response_url", "x")]

    def drop(name: str, body: Json) -> None:
        raise HangUp

    slack.after = drop
    with pytest.raises((http.client.HTTPException, OSError)):
        answer(url, text="y")
    assert texts(slack.ephemerals) == ["x", "y"]
