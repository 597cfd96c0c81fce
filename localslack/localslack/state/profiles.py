"""Profiles of the team's people, as ``users.info`` returns them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypedDict
from zoneinfo import ZoneInfo

Json = dict[str, Any]

ZONE = "Etc/UTC"


class ProfileFields(TypedDict, total=False):
    """Fields of a profile. A ``tz`` of None means that Slack does not know the person's time zone.

    ``team`` is that of a person from another team, with which a channel is shared. ``restricted`` people are
    guests, ``ultra_restricted`` ones guests in a single channel; an ``admin`` administers the team.
    """

    tz: str | None
    name: str
    deleted: bool
    is_bot: bool
    team: str
    restricted: bool
    ultra_restricted: bool
    admin: bool


@dataclass(frozen=True)
class Profile:
    """A person of the team, or of one that shares a channel with it."""

    id: str
    name: str
    tz: str | None = ZONE
    deleted: bool = False
    is_bot: bool = False
    team: str = ""
    restricted: bool = False
    ultra_restricted: bool = False
    admin: bool = False

    @property
    def is_guest(self) -> bool:
        """Whether they see only the channels that they were added to."""
        return self.restricted or self.ultra_restricted

    def to_json(self, team_id: str, now: float) -> Json:
        """Return the profile as Slack does: without a deactivated person's time zone, as others have measured."""
        identity = {"id": self.id, "team_id": self.team or team_id, "name": self.name.lower()}
        rights = {
            "is_admin": self.admin,
            "is_owner": False,
            # guests of a single channel are guests, too
            "is_restricted": self.is_guest,
            "is_ultra_restricted": self.ultra_restricted,
            "is_stranger": self.team not in ("", team_id),
        }
        more = {} if self.deleted else {"real_name": self.name, **_format_zone(self.tz, now), **rights}
        return {**identity, **more, "deleted": self.deleted, "is_bot": self.is_bot}


def _format_zone(tz: str | None, now: float) -> Json:
    """Return the zone. Slack's label is longer; without a zone it has been seen to return that of its own."""
    local = datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(tz or "America/Los_Angeles"))
    offset = local.utcoffset()
    return {"tz": tz, "tz_label": local.tzname(), "tz_offset": int(offset.total_seconds()) if offset else 0}
