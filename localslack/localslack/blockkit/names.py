"""For whom something is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo


@dataclass(frozen=True, slots=True)
class Names:
    """What ids of users and channels are called, and for whom it is shown: dates are those of ``zone``.

    ``now`` is the clock that lets dates say "today", without it none does. ``reader`` is the id of who looks: what
    is meant for others alone is not there, and their own name stands out.
    """

    users: Mapping[str, str]
    channels: Mapping[str, str]
    zone: tzinfo
    now: Callable[[], datetime] | None = None
    reader: str = ""
