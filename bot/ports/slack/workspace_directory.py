"""Interfaces to the channels and users of Slack that subscriptions need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """Facts about a visible channel: is the bot a member, is it archived, and may everybody read it."""

    is_member: bool
    is_archived: bool
    is_open: bool


@dataclass(frozen=True, slots=True)
class UserInfo:
    """Facts about a user: the workspace, and whether the user is a guest or an administrator there."""

    team: str
    is_guest: bool = False
    is_admin: bool = False


class WorkspaceDirectory(Protocol):
    """Directory of channels and users. Every method may raise SlackCallRefused or SlackUnavailable."""

    def fetch_channel(self, channel: str) -> ChannelInfo:
        """Fetch the channel of an id."""

    def open_direct_messages(self, user: str) -> str:
        """Return the channel of the direct messages between the bot and a user."""

    def fetch_team(self, user: str) -> str:
        """Fetch the workspace that a user belongs to."""

    def fetch_user(self, user: str) -> UserInfo:
        """Fetch a user."""

    def is_channel_member(self, channel: str, user: str) -> bool:
        """Return whether a user is in a channel."""

    def list_channels(self, user: str) -> frozenset[str]:
        """List the channels that a user is in.

        Channels that are not public are listed only if the bot is in them too.
        """

    def fetch_time_zone(self, user: str) -> ZoneInfo:
        """Fetch the time zone that the user has set in Slack."""


class HomePublisher(Protocol):
    """App Home, as each user sees it. The method may raise SlackCallRefused or SlackUnavailable."""

    def publish_home(self, user: str, blocks: tuple[dict[str, object], ...]) -> None:
        """Show these blocks to the user."""
