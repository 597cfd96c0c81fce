"""The people of the team, as ``users.info`` tells of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypedDict
from zoneinfo import ZoneInfo

Json = dict[str, Any]

ZONE = "Etc/UTC"


class ProfileFields(TypedDict, total=False):
    """What can be said of somebody. A ``tz`` of None is somebody whose zone Slack does not know.

    ``team`` is theirs where they are of another one, with which a channel is shared. ``restricted`` are guests,
    ``ultra_restricted`` those of one channel alone; ``admin`` is who runs the team.
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
        """Whether they are only where somebody brought them."""
        return self.restricted or self.ultra_restricted

    def to_json(self, team_id: str, now: float) -> Json:
        """Return what Slack tells: not the zone of somebody who was deactivated, as others have measured."""
        named = {"id": self.id, "team_id": self.team or team_id, "name": self.name.lower()}
        rights = {
            "is_admin": self.admin,
            "is_owner": False,
            # of one channel alone is a kind of guest
            "is_restricted": self.is_guest,
            "is_ultra_restricted": self.ultra_restricted,
            "is_stranger": self.team not in ("", team_id),
        }
        more = {} if self.deleted else {"real_name": self.name, **_format_zone(self.tz, now), **rights}
        return {**named, **more, "deleted": self.deleted, "is_bot": self.is_bot}


def _format_zone(tz: str | None, now: float) -> Json:
    """Return the zone. Slack's label is longer; without a zone it has been seen to say that of its own."""
    local = datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(tz or "America/Los_Angeles"))
    offset = local.utcoffset()
    return {"tz": tz, "tz_label": local.tzname(), "tz_offset": int(offset.total_seconds()) if offset else 0}
