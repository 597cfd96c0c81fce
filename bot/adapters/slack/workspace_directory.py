"""Channels, users and App Home over Slack's Web API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from bot.adapters.slack.errors import translate_slack_errors
from bot.adapters.slack.messenger import open_direct_messages
from bot.domain.errors import UsageError
from bot.domain.time.day import parse_zone
from bot.ports.slack.workspace_directory import ChannelInfo, UserInfo

_UTC = ZoneInfo("UTC")
# the most that Slack returns at once
_PAGE_SIZE = 999
_CHANNEL_TYPES = "public_channel,private_channel,mpim"


class SlackWorkspaceDirectory:
    """``WorkspaceDirectory`` over the Web API."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def fetch_channel(self, channel: str) -> ChannelInfo:
        """Fetch the channel of an id."""
        with translate_slack_errors(channel):
            info = self._client.conversations_info(channel=channel)["channel"]
        is_direct = bool(info.get("is_im"))
        return ChannelInfo(
            # Slack shows group direct messages only to their members
            is_member=is_direct or bool(info.get("is_mpim") or info.get("is_member")),
            is_archived=bool(info.get("is_archived")),
            is_open=not (is_direct or info.get("is_private") or info.get("is_mpim")),
        )

    def open_direct_messages(self, user: str) -> str:
        """Return the channel of the direct messages with a user. Open it if there is none."""
        return open_direct_messages(self._client, user)

    def fetch_team(self, user: str) -> str:
        """Fetch the workspace of a user."""
        return self.fetch_user(user).team

    def fetch_user(self, user: str) -> UserInfo:
        """Fetch a user. Slack calls a guest of one channel ultra restricted, and a guest of several restricted."""
        info = self._fetch_info(user)
        return UserInfo(
            team=str(info.get("team_id") or ""),
            is_guest=bool(info.get("is_restricted") or info.get("is_ultra_restricted")),
            is_admin=bool(info.get("is_admin") or info.get("is_owner")),
        )

    def is_channel_member(self, channel: str, user: str) -> bool:
        """Return whether a user is in a channel. This includes people of other workspaces in shared channels."""
        with translate_slack_errors(channel):
            pages = _iterate_pages(self._client.conversations_members, channel=channel)
            return any(user in page["members"] for page in pages)

    def list_channels(self, user: str) -> frozenset[str]:
        """List the channels that a user is in.

        This takes one call for most people, however many channels exist.
        """
        with translate_slack_errors():
            pages = _iterate_pages(self._client.users_conversations, user=user, types=_CHANNEL_TYPES)
            return frozenset(str(channel["id"]) for page in pages for channel in page["channels"])

    def fetch_time_zone(self, user: str) -> ZoneInfo:
        """Fetch the time zone of a user; UTC if Slack names one that is unknown here."""
        try:
            return parse_zone(str(self._fetch_info(user).get("tz") or ""))
        except UsageError:
            return _UTC

    def _fetch_info(self, user: str) -> Mapping[str, Any]:
        """Fetch Slack's record of a user."""
        with translate_slack_errors():
            info: Mapping[str, Any] = self._client.users_info(user=user)["user"]
        return info


def _iterate_pages(method: Callable[..., SlackResponse], **arguments: str) -> Iterator[SlackResponse]:
    """Yield all pages of a listing.

    The size of a workspace limits their number, and the work's deadline their time.
    """
    cursor = ""
    while True:
        page = method(**arguments, limit=_PAGE_SIZE, cursor=cursor)
        yield page
        cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return


class SlackHomePublisher:
    """``HomePublisher`` over the Web API."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def publish_home(self, user: str, blocks: tuple[dict[str, object], ...]) -> None:
        """Publish the user's App Home."""
        with translate_slack_errors():
            self._client.views_publish(user_id=user, view={"type": "home", "blocks": list(blocks)})
