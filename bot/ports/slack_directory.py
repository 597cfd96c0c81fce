"""Channels and people of Slack, as far as subscriptions need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class Place:
    """A channel that the bot can see: whether it is a member, may write there, and everybody may read it."""

    is_member: bool
    is_archived: bool
    is_open: bool


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in Slack: their workspace, whether they are a guest there, and whether they run it."""

    team: str
    is_guest: bool = False
    is_admin: bool = False


class Places(Protocol):
    """Looks up channels and people. Every method may raise SlackRefused or SlackUnavailable."""

    def place(self, channel: str) -> Place:
        """The channel of that id."""

    def direct(self, user: str) -> str:
        """The channel of the direct messages between the bot and a user."""

    def team(self, user: str) -> str:
        """The workspace that a user belongs to."""

    def person(self, user: str) -> Person:
        """Who a user is."""

    def is_in(self, channel: str, user: str) -> bool:
        """Whether a user is in a channel."""

    def channels_of(self, user: str) -> frozenset[str]:
        """The channels that a user is in; of those that are not public, the ones that the bot is in too."""

    def zone(self, user: str) -> ZoneInfo:
        """The time zone that the user has set in Slack."""


class Homes(Protocol):
    """App Home, as each user sees it. May raise SlackRefused or SlackUnavailable."""

    def show(self, user: str, blocks: tuple[dict[str, object], ...]) -> None:
        """Show these blocks to the user."""
