"""Channels, people and App Home over the Slack Web API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from bot.adapters.slack.errors import translate_slack_errors
from bot.adapters.slack.messenger import direct_messages
from bot.domain.errors import UsageError
from bot.domain.time.day import zone_of
from bot.ports.slack_directory import Person, Place

_UTC = ZoneInfo("UTC")
# the most that Slack gives at once
_PAGE = 999
_KINDS = "public_channel,private_channel,mpim"


class SlackPlaces:
    """``Places``."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def place(self, channel: str) -> Place:
        """The channel of that id."""
        with translate_slack_errors(channel):
            found = self._client.conversations_info(channel=channel)["channel"]
        is_direct = bool(found.get("is_im"))
        return Place(
            # Slack tells of group direct messages only to who is in them
            is_member=is_direct or bool(found.get("is_mpim") or found.get("is_member")),
            is_archived=bool(found.get("is_archived")),
            is_open=not (is_direct or found.get("is_private") or found.get("is_mpim")),
        )

    def direct(self, user: str) -> str:
        """The channel of the direct messages with a user."""
        return direct_messages(self._client, user)

    def team(self, user: str) -> str:
        """The workspace of a user."""
        return self.person(user).team

    def person(self, user: str) -> Person:
        """Who a user is. Slack calls a guest of one channel ultra restricted, and of several restricted."""
        found = self._facts(user)
        return Person(
            team=str(found.get("team_id") or ""),
            is_guest=bool(found.get("is_restricted") or found.get("is_ultra_restricted")),
            is_admin=bool(found.get("is_admin") or found.get("is_owner")),
        )

    def is_in(self, channel: str, user: str) -> bool:
        """Whether a user is in a channel, which also holds for people of other workspaces in shared ones."""
        with translate_slack_errors(channel):
            pages = _pages(self._client.conversations_members, channel=channel)
            return any(user in page["members"] for page in pages)

    def channels_of(self, user: str) -> frozenset[str]:
        """The channels that a user is in: one call for most people, however many channels there are."""
        with translate_slack_errors():
            pages = _pages(self._client.users_conversations, user=user, types=_KINDS)
            return frozenset(str(channel["id"]) for page in pages for channel in page["channels"])

    def zone(self, user: str) -> ZoneInfo:
        """The time zone of a user; UTC where Slack names one that is unknown here."""
        try:
            return zone_of(str(self._facts(user).get("tz") or ""))
        except UsageError:
            return _UTC

    def _facts(self, user: str) -> Mapping[str, Any]:
        """What Slack says of a user."""
        with translate_slack_errors():
            found: Mapping[str, Any] = self._client.users_info(user=user)["user"]
        return found


def _pages(method: Callable[..., SlackResponse], **arguments: str) -> Iterator[SlackResponse]:
    """All pages of a listing; Slack bounds them by the size of a workspace, and the work by its deadline."""
    cursor = ""
    while True:
        page = method(**arguments, limit=_PAGE, cursor=cursor)
        yield page
        cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return


class SlackHomes:
    """``Homes``."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def show(self, user: str, blocks: tuple[dict[str, object], ...]) -> None:
        """Publish the user's Home."""
        with translate_slack_errors():
            self._client.views_publish(user_id=user, view={"type": "home", "blocks": list(blocks)})
