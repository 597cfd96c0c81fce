"""Channels, people and App Home over the Slack Web API."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from slack_sdk import WebClient

from bot.adapters.slack import direct_messages
from bot.adapters.slack_errors import in_words
from bot.domain.days import zone_of
from bot.domain.errors import UsageError
from bot.ports.places import Place

_UTC = ZoneInfo("UTC")


class SlackPlaces:
    """``Places``."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def place(self, channel: str) -> Place:
        """The channel of that id."""
        with in_words(channel):
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
        return self._fact(user, "team_id")

    def zone(self, user: str) -> ZoneInfo:
        """The time zone of a user; UTC where Slack names one that is unknown here."""
        try:
            return zone_of(self._fact(user, "tz"))
        except UsageError:
            return _UTC

    def _fact(self, user: str, name: str) -> str:
        """What Slack says of a user; empty where it does not."""
        with in_words():
            return str(self._client.users_info(user=user)["user"].get(name) or "")


class SlackHomes:
    """``Homes``."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def show(self, user: str, blocks: tuple[dict[str, object], ...]) -> None:
        """Publish the user's Home."""
        with in_words():
            self._client.views_publish(user_id=user, view={"type": "home", "blocks": list(blocks)})
