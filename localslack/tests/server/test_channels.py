"""Channels and people of the Slack emulator, and what may be done with them as they change."""

from collections.abc import Callable
from typing import Any

import pytest
from slack_sdk import WebClient

from localslack.errors import InvalidAction
from localslack.testing.emulator import SlackEmulator
from tests.client import HOME, Json, refusal, texts, ts_of

SECRET = "G0SECRET"
Do = Callable[[WebClient, str, str], Any]

WRITES: dict[str, Do] = {
    "post": lambda web, channel, _: web.chat_postMessage(channel=channel, text="x"),
    "reply": lambda web, channel, ts: web.chat_postMessage(channel=channel, text="x", thread_ts=ts),
    "whisper": lambda web, channel, _: web.chat_postEphemeral(channel=channel, user="U0ASKER", text="x"),
    "update": lambda web, channel, ts: web.chat_update(channel=channel, ts=ts, text="y"),
}
READS: dict[str, Do] = {
    "history": lambda web, channel, _: web.conversations_history(channel=channel),
    "replies": lambda web, channel, ts: web.conversations_replies(channel=channel, ts=ts),
}


@pytest.fixture
def posted_messages(slack: SlackEmulator, web: WebClient) -> dict[str, str]:
    """A message of the bot's in a public and in a private channel."""
    slack.add_channel(SECRET, "secret")
    return {channel: ts_of(web.chat_postMessage(channel=channel, text="x")) for channel in (HOME, SECRET)}


def info(web: WebClient, channel: str) -> Json:
    channel_info: Json = web.conversations_info(channel=channel)["channel"]
    return channel_info


# Channels


@pytest.mark.parametrize("do", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("channel", [HOME, SECRET])
def test_an_archived_channel_takes_nothing_until_it_is_back(
    slack: SlackEmulator, web: WebClient, posted_messages: dict[str, str], channel: str, do: Do
) -> None:
    slack.archive_channel(channel)
    assert refusal(lambda: do(web, channel, posted_messages[channel]))["error"] == "is_archived"
    assert info(web, channel)["is_archived"] is True
    slack.unarchive_channel(channel)
    assert do(web, channel, posted_messages[channel])["ok"]


@pytest.mark.parametrize(("channel", "error"), [(HOME, "not_in_channel"), (SECRET, "channel_not_found")])
@pytest.mark.parametrize("do", [*WRITES.values(), *READS.values()], ids=[*WRITES, *READS])
def test_a_channel_without_the_bot_is_closed_to_it(
    slack: SlackEmulator, web: WebClient, posted_messages: dict[str, str], channel: str, error: str, do: Do
) -> None:
    slack.remove_bot(channel)
    assert refusal(lambda: do(web, channel, posted_messages[channel]))["error"] == error
    slack.invite_bot(channel)
    assert do(web, channel, posted_messages[channel])["ok"]


def test_what_is_archived_can_still_be_read(
    slack: SlackEmulator, web: WebClient, posted_messages: dict[str, str]
) -> None:
    slack.archive_channel(HOME)
    assert texts(web.conversations_history(channel=HOME)["messages"]) == ["x"]


def test_archived_is_said_before_not_in_channel(slack: SlackEmulator, web: WebClient) -> None:
    slack.archive_channel(HOME)
    slack.remove_bot(HOME)
    assert refusal(lambda: web.chat_postMessage(channel=HOME, text="x"))["error"] == "is_archived"


def test_a_channel_is_described_as_it_is_now(slack: SlackEmulator, web: WebClient) -> None:
    slack.add_channel("C0SHARED", "both", shared=True)
    slack.rename_channel("C0SHARED", "all")
    slack.remove_bot("C0SHARED")
    shown = {"id": "C0SHARED", "name": "all", "is_private": False, "is_member": False, "is_ext_shared": True}
    assert info(web, "C0SHARED").items() >= {**shown, "is_archived": False, "is_channel": True}.items()
    slack.add_channel(SECRET, "secret")
    assert info(web, SECRET).items() >= {"is_private": True, "is_member": True, "is_channel": False}.items()
    slack.remove_bot(SECRET)
    assert refusal(lambda: info(web, SECRET))["error"] == "channel_not_found"


def test_a_new_name_finds_the_channel_and_the_old_one_does_not(slack: SlackEmulator, web: WebClient) -> None:
    slack.rename_channel(HOME, "daily")
    assert web.chat_postMessage(channel="#daily", text="x")["channel"] == HOME
    assert refusal(lambda: web.chat_postMessage(channel="#general", text="x"))["error"] == "channel_not_found"


# Direct messages


def test_direct_messages_with_somebody_are_always_the_same(slack: SlackEmulator, web: WebClient) -> None:
    first, second = (web.conversations_open(users="U0ASKER")["channel"]["id"] for _ in range(2))
    assert first == second == "D0ASKER"
    ts = ts_of(web.chat_postMessage(channel=first, text="hi"))
    web.chat_update(channel=first, ts=ts, text="hello")
    assert (
        texts(slack.list_messages(first))
        == texts(web.conversations_history(channel=first)["messages"])
        == ["hello"]
    )


def test_direct_messages_are_described_by_whom_they_are_with(slack: SlackEmulator, web: WebClient) -> None:
    channel = web.conversations_open(users="U0ASKER")["channel"]["id"]
    shown = {"id": channel, "is_im": True, "is_private": True, "user": "U0ASKER", "is_user_deleted": False}
    assert info(web, channel).items() >= shown.items()
    assert not {"name", "is_member"} & info(web, channel).keys()
    slack.set_person("U0ASKER", deleted=True)
    assert info(web, channel)["is_user_deleted"] is True


@pytest.mark.parametrize("channel", ["U0ASKER", "#general"])
@pytest.mark.parametrize("do", [WRITES["update"], *READS.values(), lambda web, channel, _: info(web, channel)])
def test_only_posts_can_be_sent_to_a_user_or_a_name(web: WebClient, channel: str, do: Do) -> None:
    ts = ts_of(web.chat_postMessage(channel=channel, text="x"))
    assert refusal(lambda: do(web, channel, ts))["error"] == "channel_not_found"


def test_direct_messages_that_were_never_opened_are_not_found(web: WebClient) -> None:
    assert refusal(lambda: web.chat_postMessage(channel="D0NOBODY", text="x"))["error"] == "channel_not_found"


@pytest.mark.parametrize(
    ("users", "error"),
    [
        ("U0GONE", "user_disabled"),
        ("U0ROBOT", "cannot_dm_bot"),
        ("U0BOT", "cannot_dm_bot"),
        ("x", "user_not_found"),
    ],
)
def test_some_have_no_direct_messages(slack: SlackEmulator, web: WebClient, users: str, error: str) -> None:
    slack.set_person("U0GONE", deleted=True)
    slack.set_person("U0ROBOT", is_bot=True)
    assert refusal(lambda: web.conversations_open(users=users))["error"] == error


# People


def test_somebody_unknown_is_somebody(web: WebClient) -> None:
    user = web.users_info(user="U0NEW")["user"]
    assert (user["tz"], user["tz_offset"], user["deleted"], user["is_bot"]) == ("Etc/UTC", 0, False, False)
    assert refusal(lambda: web.users_info(user="ada"))["error"] == "user_not_found"


def test_what_is_said_of_somebody_adds_up(slack: SlackEmulator, web: WebClient) -> None:
    slack.set_person("U0ASKER", tz="America/Los_Angeles", name="Ada")
    slack.set_person("U0ASKER", is_bot=True)
    user = web.users_info(user="U0ASKER")["user"]
    assert (user["tz"], user["tz_offset"], user["is_bot"]) == ("America/Los_Angeles", -28_800, True)
    assert (user["name"], user["real_name"]) == ("ada", "Ada")


def test_an_offset_is_that_of_the_season() -> None:
    with SlackEmulator(now=lambda: 1_784_000_000) as slack:
        slack.set_person("U0ASKER", tz="Europe/Berlin")
        user = WebClient("xoxb-test", base_url=slack.url).users_info(user="U0ASKER")["user"]
    assert (user["tz_label"], user["tz_offset"]) == ("CEST", 7_200)


def test_a_zone_may_be_unknown_and_is_not_told_of_who_is_gone(slack: SlackEmulator, web: WebClient) -> None:
    slack.set_person("U0ASKER", tz=None)
    assert web.users_info(user="U0ASKER")["user"]["tz"] is None
    slack.set_person("U0ASKER", tz="Europe/Berlin", deleted=True)
    user = web.users_info(user="U0ASKER")["user"]
    assert user["deleted"] is True
    assert not {"tz", "tz_offset", "real_name"} & user.keys()
    with pytest.raises(InvalidAction, match="no zone Mars"):
        slack.set_person("U0ASKER", tz="Mars")


# Who is where


def members(web: WebClient, channel: str, **arguments: Any) -> list[str]:
    member_ids: list[str] = web.conversations_members(channel=channel, **arguments)["members"]
    return member_ids


def test_without_a_word_everybody_of_the_team_is_in_a_channel_but_its_guests(
    slack: SlackEmulator, web: WebClient
) -> None:
    slack.set_person("U0ADA")
    slack.set_person("U0GUEST", restricted=True)
    slack.set_person("U0GONE", deleted=True)
    slack.set_person("U0ELSE", team="T0OTHER")
    assert members(web, HOME) == ["U0ADA", "U0BOT"]
    slack.add_channel("C0SHARED", "both", shared=True)
    assert members(web, "C0SHARED") == ["U0ADA", "U0BOT", "U0ELSE"]
    slack.join_channel(HOME, "U0GUEST")
    slack.leave_channel(HOME, "U0ADA")
    assert members(web, HOME) == ["U0BOT", "U0GUEST"]


def test_members_come_in_pages_also_where_the_bot_is_not(slack: SlackEmulator, web: WebClient) -> None:
    slack.add_channel("C0OTHER", "other", member=False, people=("U1", "U2", "U3"))
    first = web.conversations_members(channel="C0OTHER", limit=2)
    assert first["members"] == ["U1", "U2"]
    cursor = first["response_metadata"]["next_cursor"]
    assert members(web, "C0OTHER", limit=2, cursor=cursor) == ["U3"]
    direct = web.conversations_open(users="U0ADA")["channel"]["id"]
    assert members(web, direct) == ["U0ADA", "U0BOT"]


MEMBERS: dict[str, tuple[Callable[[WebClient], Any], str]] = {
    "private without the bot": (lambda web: web.conversations_members(channel=SECRET), "channel_not_found"),
    "nowhere": (lambda web: web.conversations_members(channel="C0NOWHERE"), "channel_not_found"),
    "too many at once": (lambda web: web.conversations_members(channel=HOME, limit=1_001), "invalid_limit"),
    "another's cursor": (lambda web: web.conversations_members(channel=HOME, cursor="x"), "invalid_cursor"),
    "nobody": (lambda web: web.users_conversations(user="x"), "user_not_found"),
    "a thousand": (lambda web: web.users_conversations(user="U0ADA", limit=1_000), "invalid_limit"),
    "unknown types": (lambda web: web.users_conversations(user="U0ADA", types="all"), "invalid_types"),
}


@pytest.mark.parametrize(("ask", "error"), MEMBERS.values(), ids=MEMBERS)
def test_who_is_where_is_refused_as_slack_refuses_it(
    slack: SlackEmulator, web: WebClient, ask: Callable[[WebClient], Any], error: str
) -> None:
    slack.add_channel(SECRET, "secret", member=False, people=("U0ADA",))
    assert refusal(lambda: ask(web))["error"] == error


def test_guests_are_told_apart_from_others(slack: SlackEmulator, web: WebClient) -> None:
    slack.set_person("U0ONE", ultra_restricted=True)
    slack.set_person("U0ADMIN", admin=True)
    told = ("is_admin", "is_restricted", "is_ultra_restricted", "is_stranger")
    users = [web.users_info(user=user)["user"] for user in ("U0ONE", "U0ADMIN")]
    assert [[user[name] for name in told] for user in users] == [
        [False, True, True, False],
        [True, False, False, False],
    ]
