"""The reader of what is shown, and the names that the reader sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo


@dataclass(frozen=True, slots=True)
class Names:
    """Names of users and channels by id, for one reader, whose dates are in ``zone``.

    ``now`` is the clock with which dates can say "today"; without it they never do. ``reader`` is the reader's
    user id: elements for others only are left out, and mentions of the reader are highlighted.
    """

    users: Mapping[str, str]
    channels: Mapping[str, str]
    zone: tzinfo
    now: Callable[[], datetime] | None = None
    reader: str = ""
