"""Deliveries to the app for a person who uses it, and the answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from localslack.server.local_slack import LocalSlack
from localslack.state.identity import APP_ID, BOT_USER, TEAM_URL
from localslack.state.workspace import Json
from localslack.users.transport import Ack, Transport

TOKEN = "verification-token"  # noqa: S105 (opens nothing; long out of use, and still in everything that Slack sends)
DOMAIN = TEAM_URL.removeprefix("https://").partition(".")[0]


@dataclass(frozen=True)
class Delivery:
    """A request to the app as it was delivered, and the answer. ``retry`` counts the deliveries before it.

    ``errors`` are the errors by block that the person reads in a form that the app did not accept.
    """

    kind: str
    payload: Json
    ack: Ack
    retry: int = 0
    errors: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Sender:
    """A person of the team, or of another ``team`` that shares a channel with it."""

    slack: LocalSlack
    transport: Transport
    user: str = "U0ASKER"
    name: str = "ada"
    team: str | None = None
    enterprise: str | None = None

    @property
    def home(self) -> str:
        """The id of the person's own team."""
        return self.team or self.slack.workspace.team_id

    @property
    def is_guest(self) -> bool:
        """Whether the person is of another team."""
        return self.home != self.slack.workspace.team_id

    def redeliver(self, delivery: Delivery) -> Delivery:
        """Send the same request once more. Slack itself does so only for events."""
        return self._deliver_payload(delivery.kind, delivery.payload, delivery.retry + 1)

    def _deliver_payload(self, kind: str, payload: Json, retry: int = 0) -> Delivery:
        self.slack.register_user(self.user, self.team or "")
        ack = self.transport.send(kind, payload, retry=retry)
        return Delivery(kind, payload, ack, retry)

    def _send_event(self, event: Json) -> Delivery:
        team, grid = self.slack.workspace.team_id, None if self.is_guest else self.enterprise
        bot = {"team_id": team, "user_id": BOT_USER, "is_bot": True, "is_enterprise_install": False}
        payload = {
            "token": TOKEN,
            # the person's; where the app is installed, the authorizations say
            "team_id": self.home,
            "context_team_id": team,
            "context_enterprise_id": grid,
            "api_app_id": APP_ID,
            "event": event,
            "type": "event_callback",
            "event_id": self.slack.make_id("Ev"),
            "event_time": int(float(event["event_ts"])),
            "authorizations": [{"enterprise_id": grid, **bot}],
            "is_ext_shared_channel": self.is_guest or self.slack.is_shared(event.get("channel", "")),
        }
        return self._deliver_payload("events_api", payload | ({"enterprise_id": grid} if grid else {}))

    def _make_interaction(self, kind: str, **more: Any) -> Json:
        """Return the payload fields that all interactions share."""
        grid = None if self.is_guest else self.enterprise
        return {
            "type": kind,
            "team": {"id": self.slack.workspace.team_id, "domain": DOMAIN},
            "user": {"id": self.user, "username": self.name, "name": self.name, "team_id": self.home},
            "enterprise": {"id": grid, "name": "Grid"} if grid else None,
            "is_enterprise_install": False,
            "api_app_id": APP_ID,
            "token": TOKEN,
            **more,
        }
