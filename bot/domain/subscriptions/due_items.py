"""The items of the due queue, and their text in the store.

An item has exactly one text: one with two texts would be due twice. The first version has no mark, each later one
begins with its number and a semicolon: this one leaves its items alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository

_VERSION_MARK = ";"
# a digest of a busy repository takes minutes to build; longer times are reported
LATE_AFTER = timedelta(minutes=15)
# a revert is reported within hours; each check is one call to GitHub, or two
CHECK_INTERVAL = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class NextDigest:
    """The next digest to post for the subscription with that id."""

    subscription: str


@dataclass(frozen=True, slots=True)
class DigestRepair:
    """The repair of the incomplete digest with that key."""

    digest: str


@dataclass(frozen=True, slots=True)
class IncidentReport:
    """The report of the incident with that id."""

    incident: str


@dataclass(frozen=True, slots=True)
class ReportUpdate:
    """The edit that writes the end of the incident with that id into its report."""

    incident: str


@dataclass(frozen=True, slots=True)
class OutcomeCheck:
    """The check of the outcomes of the pull requests in a repository's digests."""

    repository: Repository


@dataclass(frozen=True, slots=True)
class ProfileRefresh:
    """The next scan of the tree of the profile with that name."""

    profile: str


DueItem: TypeAlias = NextDigest | DigestRepair | IncidentReport | ReportUpdate | OutcomeCheck | ProfileRefresh


_ITEM_TYPES: Mapping[str, type[DigestRepair | IncidentReport | ReportUpdate | ProfileRefresh]] = {
    "mend": DigestRepair,
    "tell": IncidentReport,
    "settle": ReportUpdate,
    "scan": ProfileRefresh,
}


def format_item(item: DueItem) -> str:
    """Return the text of an item in the store."""
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
        case ProfileRefresh():
            return f"scan:{item.profile}"


def parse_item(text: str) -> DueItem | None:
    """Parse the text of an item in the store; return None for an unknown version or kind."""
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
