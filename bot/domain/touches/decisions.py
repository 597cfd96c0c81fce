"""What people said about hits that they were shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.pull_requests.reference import Reference


class TouchVerdict(StrEnum):
    """What somebody says about a hit. Stored: never changed. ``bot.render`` has the words that people read."""

    OURS = "ours to do"
    NOT_US = "not us"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class HitKey:
    """A hit: a change of one merge. ``change`` are twelve hexadecimal digits that name it within the merge.

    Without a ``change`` it stands for all hits of the merge.
    """

    reference: Reference
    change: str = ""

    def __str__(self) -> str:
        return f"{self.reference} {self.change}"


@dataclass(frozen=True, slots=True)
class TouchDecision:
    """What somebody said about a hit last. ``by`` is the id of a Slack user, ``at`` is in UTC."""

    key: HitKey
    verdict: TouchVerdict
    by: str
    at: datetime
