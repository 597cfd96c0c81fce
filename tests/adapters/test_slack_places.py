"""Channels, people and App Home as Slack tells of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.adapters.slack import slack_client
from bot.adapters.slack_places import SlackHomes, SlackPlaces
from bot.domain.errors import SlackRefused, SlackUnavailable
from bot.ports.places import Place
from tests.checks import is_one_sentence
from tests.emulators.slack import SlackEmulator
from tests.services.posting import HOME

BLOCK: dict[str, object] = {"type": "header", "text": {"type": "plain_text", "text": "Hello"}}


def places(slack: SlackEmulator) -> SlackPlaces:
    return SlackPlaces(slack_client(slack.token, slack.url))


def homes(slack: SlackEmulator) -> SlackHomes:
    return SlackHomes(slack_client(slack.token, slack.url))


CHANNELS: dict[str, tuple[dict[str, Any], Place]] = {
    "open": ({}, Place(is_member=True, is_archived=False, is_open=True)),
    "private": ({"private": True}, Place(is_member=True, is_archived=False, is_open=False)),
    "elsewhere": ({"member": False}, Place(is_member=False, is_archived=False, is_open=True)),
    "archived": ({"archived": True}, Place(is_member=True, is_archived=True, is_open=True)),
    "shared": ({"shared": True}, Place(is_member=True, is_archived=False, is_open=True)),
}


@pytest.mark.parametrize(("made", "expected"), CHANNELS.values(), ids=CHANNELS)
def test_a_channel_is_as_slack_says(slack: SlackEmulator, made: dict[str, Any], expected: Place) -> None:
    slack.add_channel("C0OTHER", "other", **made)
    assert places(slack).place("C0OTHER") == expected


def test_direct_messages_are_written_in_and_read_by_one_alone(slack: SlackEmulator) -> None:
    channel = places(slack).direct("U0ADA")
    assert channel == places(slack).direct("U0ADA") == "D0ADA"
    assert places(slack).place(channel) == Place(is_member=True, is_archived=False, is_open=False)


def test_what_changes_is_seen_at_once(slack: SlackEmulator) -> None:
    slack.remove_bot(HOME)
    assert not places(slack).place(HOME).is_member
    slack.invite_bot(HOME)
    slack.archive_channel(HOME)
    assert places(slack).place(HOME) == Place(is_member=True, is_archived=True, is_open=True)


@pytest.mark.parametrize("channel", ["C0UNKNOWN", "C0SECRET", "", "nonsense"])
def test_a_channel_that_the_bot_can_not_see_is_refused(slack: SlackEmulator, channel: str) -> None:
    slack.add_channel("C0SECRET", "secret", private=True, member=False)
    with pytest.raises(SlackRefused) as caught:
        places(slack).place(channel)
    assert (caught.value.code, is_one_sentence(str(caught.value))) == ("channel_not_found", True)


@pytest.mark.parametrize(
    ("tz", "expected"), [("Asia/Tokyo", "Asia/Tokyo"), ("Etc/GMT+12", "Etc/GMT+12"), (None, "UTC")]
)
def test_the_zone_is_that_of_the_person(slack: SlackEmulator, tz: str | None, expected: str) -> None:
    slack.set_person("U0ADA", tz=tz)
    assert places(slack).zone("U0ADA") == ZoneInfo(expected)


def test_who_was_deactivated_has_no_zone(slack: SlackEmulator) -> None:
    slack.set_person("U0ADA", tz="Asia/Tokyo", deleted=True)
    assert places(slack).zone("U0ADA") == ZoneInfo("UTC")


@pytest.mark.parametrize("user", ["nobody", "C0DIGEST"])
def test_who_is_nobody_has_neither_zone_nor_direct_messages(slack: SlackEmulator, user: str) -> None:
    for look in (places(slack).zone, places(slack).direct):
        with pytest.raises(SlackRefused):
            look(user)


def test_a_home_is_published_to_one_person_and_replaced(slack: SlackEmulator) -> None:
    for text in ("One", "Two"):
        homes(slack).show("U0ADA", ({**BLOCK, "text": {"type": "plain_text", "text": text}},))
    view = slack.home_of("U0ADA")
    assert view
    assert (view["type"], view["blocks"][0]["text"]["text"]) == ("home", "Two")
    assert slack.home_of("U0BEN") is None


def test_a_home_that_is_switched_off_is_refused(slack: SlackEmulator) -> None:
    slack.enable_home(enabled=False)
    with pytest.raises(SlackRefused) as caught:
        homes(slack).show("U0ADA", (BLOCK,))
    assert caught.value.code == "not_enabled"


CALLS: dict[str, Callable[[SlackEmulator], object]] = {
    "conversations.info": lambda slack: places(slack).place(HOME),
    "conversations.open": lambda slack: places(slack).direct("U0ADA"),
    "users.info": lambda slack: places(slack).zone("U0ADA"),
    "views.publish": lambda slack: homes(slack).show("U0ADA", (BLOCK,)),
}


@pytest.mark.parametrize("failure", [{"status": 503}, {"hang_up": True}, {"error": "fatal_error"}], ids=str)
@pytest.mark.parametrize("method", CALLS)
def test_a_slack_that_does_not_answer_is_unavailable(
    slack: SlackEmulator, method: str, failure: dict[str, Any]
) -> None:
    slack.fail_next(method, **failure)
    with pytest.raises(SlackUnavailable) as caught:
        CALLS[method](slack)
    assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize("method", CALLS)
def test_a_scope_that_is_missing_is_named(slack: SlackEmulator, method: str) -> None:
    slack.fail_next(method, error="missing_scope")
    with pytest.raises(SlackRefused) as caught:
        CALLS[method](slack)
    assert (caught.value.code, "scope" in str(caught.value)) == ("missing_scope", True)
