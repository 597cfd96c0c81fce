from collections.abc import Iterator

import pytest
from slack_sdk import WebClient

from localslack.methods.registry import ALL_SCOPES
from localslack.testing.emulator import SlackEmulator
from tests.client import HOME, Json, client_of, refusal

READER: Json = {"recipient_user_id": "U0ASKER", "recipient_team_id": "T0TEAM"}


@pytest.fixture
def lead(slack: SlackEmulator) -> str:
    return slack.add_message(HOME, "why?")


@pytest.fixture
def hands() -> list[float]:
    """A clock that a test moves."""
    return [1_000.0]


@pytest.fixture
def timed_slack(hands: list[float]) -> Iterator[SlackEmulator]:
    with SlackEmulator(clock=lambda: hands[0]) as slack:
        yield slack


def set_status(web: WebClient, lead: str, says: str = "is reading…", **more: object) -> None:
    arguments: Json = {"channel_id": HOME, "thread_ts": lead, "status": says, **more}
    web.assistant_threads_setStatus(**arguments)


def test_a_status_is_shown_until_it_is_taken_back(slack: SlackEmulator, web: WebClient, lead: str) -> None:
    assert slack.get_status(HOME, lead) == ""
    set_status(web, lead, loading_messages=["Reading", "Thinking"])
    assert slack.get_status(HOME, lead) == "is reading…"
    set_status(web, lead, "")
    assert slack.get_status(HOME, lead) == ""
    where = {"channel": HOME, "thread_ts": lead}
    assert slack.statuses == [{**where, "status": "is reading…"}, {**where, "status": ""}]


def test_an_answer_ends_the_status_of_its_thread(slack: SlackEmulator, web: WebClient, lead: str) -> None:
    other = slack.add_message(HOME, "and?")
    for thread in (lead, other):
        set_status(web, thread)
    slack.add_message(HOME, "somebody else", thread_ts=lead)
    web.chat_postMessage(channel=HOME, text="not here")
    assert slack.get_status(HOME, lead) == "is reading…"
    web.chat_postMessage(channel=HOME, text="here", thread_ts=lead)
    assert (slack.get_status(HOME, lead), slack.get_status(HOME, other)) == ("", "is reading…")
    web.chat_startStream(channel=HOME, thread_ts=other, **READER)
    assert slack.get_status(HOME, other) == ""


def test_a_status_lasts_two_minutes(timed_slack: SlackEmulator, hands: list[float]) -> None:
    lead = timed_slack.add_message(HOME, "why?")
    set_status(client_of(timed_slack), lead)
    hands[0] += 119.9
    assert timed_slack.get_status(HOME, lead) == "is reading…"
    hands[0] += 0.1
    assert timed_slack.get_status(HOME, lead) == ""
    set_status(client_of(timed_slack), lead, "is still reading…")
    assert timed_slack.get_status(HOME, lead) == "is still reading…"


def test_direct_messages_have_statuses_too(slack: SlackEmulator, web: WebClient) -> None:
    slack.get_channel("D0ASKER")
    lead = slack.add_message("D0ASKER", "hi")
    set_status(web, lead, channel_id="D0ASKER")
    assert slack.get_status("D0ASKER", lead) == "is reading…"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"channel_id": "C0NOWHERE"}, "channel_not_found"),
        ({"channel_id": "C0OUTSIDE"}, "not_in_channel"),
        ({"thread_ts": "1700000000.000001"}, "invalid_thread_ts"),
        ({"thread_ts": "soon"}, "invalid_thread_ts"),
        ({"status": None}, "invalid_arguments"),
        ({"status": "x" * 51}, "invalid_arguments"),
        ({"loading_messages": ["x"] * 11}, "invalid_arguments"),
        ({"loading_messages": ["x" * 51]}, "invalid_arguments"),
        ({"loading_messages": "["}, "invalid_arguments"),
        ({"text": "x"}, "invalid_arguments"),
    ],
    ids=str,
)
def test_refusals(slack: SlackEmulator, web: WebClient, lead: str, arguments: Json, error: str) -> None:
    slack.add_channel("C0OUTSIDE", "outside", member=False)
    assert refusal(lambda: set_status(web, lead, **arguments))["error"] == error
    assert slack.statuses == []


def test_a_status_needs_the_right_to_write() -> None:
    with SlackEmulator(scopes=ALL_SCOPES - {"chat:write"}) as slack:
        assert refusal(lambda: set_status(client_of(slack), "1.1"))["error"] == "missing_scope"


def test_a_status_can_fail(slack: SlackEmulator, web: WebClient, lead: str) -> None:
    slack.fail_next("assistant.threads.setStatus", retry_after=3)
    assert refusal(lambda: set_status(web, lead)).status_code == 429
    slack.fail_next("assistant.threads.setStatus", status=503, after_effect=True)
    assert refusal(lambda: set_status(web, lead)).status_code == 503
    assert slack.get_status(HOME, lead) == "is reading…"
