from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.errors import SlackCallRefused
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.directory import ChannelInfo, SlackWorkspaceDirectory, UserInfo
from bot.platform.slack.messenger import SlackViews
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME
from tests.helpers.checks import is_one_sentence

TEAM = "T0TEAM"
BLOCK: dict[str, object] = {"type": "header", "text": {"type": "plain_text", "text": "Hello"}}


def places(slack: SlackEmulator) -> SlackWorkspaceDirectory:
    return SlackWorkspaceDirectory(make_slack_client(slack.token, slack.url))


def homes(slack: SlackEmulator) -> SlackViews:
    return SlackViews(make_slack_client(slack.token, slack.url))


CHANNELS: dict[str, tuple[dict[str, Any], ChannelInfo]] = {
    "open": ({}, ChannelInfo(is_member=True, is_archived=False, is_open=True)),
    "private": ({"private": True}, ChannelInfo(is_member=True, is_archived=False, is_open=False)),
    "elsewhere": ({"member": False}, ChannelInfo(is_member=False, is_archived=False, is_open=True)),
    "archived": ({"archived": True}, ChannelInfo(is_member=True, is_archived=True, is_open=True)),
    "shared": ({"shared": True}, ChannelInfo(is_member=True, is_archived=False, is_open=True, is_external=True)),
}


@pytest.mark.parametrize(("made", "expected"), CHANNELS.values(), ids=CHANNELS)
def test_a_channel_is_as_slack_says(slack: SlackEmulator, made: dict[str, Any], expected: ChannelInfo) -> None:
    slack.add_channel("C0OTHER", "other", **made)
    assert places(slack).fetch_channel("C0OTHER") == expected


def test_direct_messages_are_written_in_and_read_by_one_alone(slack: SlackEmulator) -> None:
    channel = places(slack).open_direct_messages("U0ADA")
    assert channel == places(slack).open_direct_messages("U0ADA") == "D0ADA"
    info = ChannelInfo(is_member=True, is_archived=False, is_open=False, user="U0ADA")
    assert places(slack).fetch_channel(channel) == info


def test_what_changes_is_seen_at_once(slack: SlackEmulator) -> None:
    slack.remove_bot(HOME)
    assert not places(slack).fetch_channel(HOME).is_member
    slack.invite_bot(HOME)
    slack.archive_channel(HOME)
    assert places(slack).fetch_channel(HOME) == ChannelInfo(is_member=True, is_archived=True, is_open=True)


@pytest.mark.parametrize("channel", ["C0UNKNOWN", "C0SECRET", "", "nonsense"])
def test_a_channel_that_the_bot_can_not_see_is_refused(slack: SlackEmulator, channel: str) -> None:
    slack.add_channel("C0SECRET", "secret", private=True, member=False)
    with pytest.raises(SlackCallRefused) as caught:
        places(slack).fetch_channel(channel)
    assert (caught.value.code, is_one_sentence(str(caught.value))) == ("channel_not_found", True)


@pytest.mark.parametrize(
    ("tz", "expected"), [("Asia/Tokyo", "Asia/Tokyo"), ("Etc/GMT+12", "Etc/GMT+12"), (None, "UTC")]
)
def test_the_zone_is_that_of_the_person(slack: SlackEmulator, tz: str | None, expected: str) -> None:
    slack.set_person("U0ADA", tz=tz)
    assert places(slack).fetch_time_zone("U0ADA") == ZoneInfo(expected)


def test_who_was_deactivated_has_no_zone(slack: SlackEmulator) -> None:
    slack.set_person("U0ADA", tz="Asia/Tokyo", deleted=True)
    assert places(slack).fetch_time_zone("U0ADA") == ZoneInfo("UTC")


@pytest.mark.parametrize("user", ["nobody", "C0DIGEST"])
def test_who_is_nobody_has_neither_zone_nor_direct_messages(slack: SlackEmulator, user: str) -> None:
    for look in (places(slack).fetch_time_zone, places(slack).open_direct_messages):
        with pytest.raises(SlackCallRefused):
            look(user)


def test_a_home_is_published_to_one_person_and_replaced(slack: SlackEmulator) -> None:
    for text in ("One", "Two"):
        homes(slack).publish_home("U0ADA", ({**BLOCK, "text": {"type": "plain_text", "text": text}},))
    view = slack.get_home("U0ADA")
    assert view
    assert (view["type"], view["blocks"][0]["text"]["text"]) == ("home", "Two")
    assert slack.get_home("U0BEN") is None


def test_a_home_that_is_switched_off_is_refused(slack: SlackEmulator) -> None:
    slack.enable_home(enabled=False)
    with pytest.raises(SlackCallRefused) as caught:
        homes(slack).publish_home("U0ADA", (BLOCK,))
    assert caught.value.code == "not_enabled"


PEOPLE: dict[str, tuple[dict[str, Any], UserInfo]] = {
    "anybody": ({}, UserInfo(TEAM)),
    "guest of one channel": ({"ultra_restricted": True}, UserInfo(TEAM, is_guest=True)),
    "guest of several": ({"restricted": True}, UserInfo(TEAM, is_guest=True)),
    "admin": ({"admin": True}, UserInfo(TEAM, is_admin=True)),
    "of another workspace": ({"team": "T0OTHER"}, UserInfo("T0OTHER")),
    # of whom Slack says little
    "deactivated": ({"deleted": True, "admin": True}, UserInfo(TEAM)),
}


@pytest.mark.parametrize(("facts", "expected"), PEOPLE.values(), ids=PEOPLE)
def test_people_are_as_slack_says(slack: SlackEmulator, facts: dict[str, Any], expected: UserInfo) -> None:
    slack.set_person("U0ADA", **facts)
    assert places(slack).fetch_user("U0ADA") == expected


@pytest.mark.parametrize("channel", ["C0OPEN", "C0SECRET", "C0AWAY"])
def test_who_is_in_a_channel_is_found_on_whatever_page(slack: SlackEmulator, channel: str) -> None:
    crowd = {f"U{number:04}" for number in range(2_500)}
    private = channel == "C0SECRET"
    slack.add_channel(channel, "x", private=private, member=channel != "C0AWAY", people=crowd)
    memberships = [places(slack).is_channel_member(channel, user) for user in ("U0000", "U2499", "U2500", "U0BOT")]
    assert memberships == [True, True, False, channel != "C0AWAY"]
    slack.leave_channel(channel, "U2499")
    assert not places(slack).is_channel_member(channel, "U2499")


def test_who_is_in_a_channel_that_is_closed_to_the_bot_is_not_said(slack: SlackEmulator) -> None:
    slack.add_channel("C0SECRET", "x", private=True, member=False, people=("U0ADA",))
    with pytest.raises(SlackCallRefused) as caught:
        places(slack).is_channel_member("C0SECRET", "U0ADA")
    assert caught.value.code == "channel_not_found"


def test_the_channels_of_somebody_are_those_they_share_with_the_bot_and_public_ones(slack: SlackEmulator) -> None:
    public_channels = set()
    for number in range(1_200):
        slack.add_channel(f"C{number:05}", f"c{number}", member=False, people=("U0ADA",))
        public_channels.add(f"C{number:05}")
    slack.add_channel("C0SECRET", "secret", private=True, people=("U0ADA", "U0BEN"))
    slack.add_channel("C0CLOSED", "closed", private=True, member=False, people=("U0ADA",))
    slack.add_channel("C0GROUP", "group", several=True, people=("U0ADA",))
    slack.add_channel("C0OTHER", "other", people=("U0BEN",))
    slack.set_person("U0ADA", restricted=True)
    assert places(slack).list_channels("U0ADA") == {*public_channels, "C0SECRET", "C0GROUP"}
    assert len(slack.list_calls_to("users.conversations")) == 2
