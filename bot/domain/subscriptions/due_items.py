"""What the clock finds due: items of the agenda, and how they are written in the store.

An item has one spelling: one that stood on the agenda in two would be due twice. Version 1 has no mark, so that
what is written already stays as it is. A later version begins with its number and a semicolon, and comes with a
migration; what an older reader does not know, it leaves alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository

_VERSION_MARK = ";"


@dataclass(frozen=True, slots=True)
class NextDigest:
    """Post the next digest of the subscription with that id."""

    subscription: str


@dataclass(frozen=True, slots=True)
class DigestRepair:
    """Look again at the incomplete digest of that key."""

    digest: str


@dataclass(frozen=True, slots=True)
class IncidentReport:
    """Tell of the incident with that id."""

    incident: str


@dataclass(frozen=True, slots=True)
class ReportUpdate:
    """Write into the report of the incident with that id how it ended."""

    incident: str


@dataclass(frozen=True, slots=True)
class OutcomeCheck:
    """Look for what became of the pull requests in a repository's digests."""

    repository: Repository


DueItem: TypeAlias = NextDigest | DigestRepair | IncidentReport | ReportUpdate | OutcomeCheck


_ITEM_TYPES: Mapping[str, type[DigestRepair | IncidentReport | ReportUpdate]] = {
    "mend": DigestRepair,
    "tell": IncidentReport,
    "settle": ReportUpdate,
}


def format_item(item: DueItem) -> str:
    """Return an item as the store has it."""
    match item:
        case NextDigest():
            return item.subscription
        case DigestRepair():
            return f"mend:{item.digest}"
        case IncidentReport():
            return f"tell:{item.incident}"
        case ReportUpdate():
            return f"settle:{item.incident}"
        case OutcomeCheck():
            return f"watch:{item.repository}"


def parse_item(text: str) -> DueItem | None:
    """Return the item that the store has so; None for one of another version, or of nobody's."""
    kind, colon, rest = text.partition(":")
    if _VERSION_MARK in kind:
        return None
    if kind == "watch":
        return _parse_check(rest)
    if kind in _ITEM_TYPES:
        return _ITEM_TYPES[kind](rest)
    return None if colon else NextDigest(text)


def _parse_check(text: str) -> OutcomeCheck | None:
    try:
        return OutcomeCheck(Repository.parse(text))
    except UsageError:
        return None
