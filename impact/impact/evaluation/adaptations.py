"""The upstream merges that a downstream named as causes of its adaptations: the truth of a replay."""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from impact.errors import UsageError
from impact.history.causes import build_reference, list_causes

_NUMBER_COLUMN, _KIND_COLUMN, _DATE_COLUMN = "upstream_pr", "kind", "date"


@dataclass(frozen=True, slots=True)
class TouchTruth:
    """The merges that a downstream named as causes of adaptations, with the kinds of change if known.

    ``adapted`` has the UTC dates of the first adaptation, as far as they are known.
    """

    kinds: Mapping[int, frozenset[str]] = field(default_factory=dict)
    source: str = ""
    adapted: Mapping[int, dt.date] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NamingCommit:
    """A commit of the downstream. The time is in UTC."""

    committed_at: datetime
    message: str


def parse_truth(text: str) -> TouchTruth:
    """Read a CSV with ``upstream_pr`` and perhaps ``kind`` and ``date`` (UTC, ``2026-01-31``), when it adapted.

    A number may have several rows; what is no date is left out. Raises UsageError for another file.
    """
    rows = read_rows(text, "truth")
    if not rows or _NUMBER_COLUMN not in rows[0]:
        raise UsageError(f"The file of truth needs a column {_NUMBER_COLUMN}: add it.")
    kinds: dict[int, set[str]] = defaultdict(set)
    dates: dict[int, set[dt.date]] = defaultdict(set)
    for row in rows:
        number = (row[_NUMBER_COLUMN] or "").strip().lstrip("#")
        if number.isascii() and number.isdigit() and len(number) < 10:
            kinds[int(number)] |= {kind for kind in [(row.get(_KIND_COLUMN) or "").strip()] if kind}
            with suppress(ValueError):
                dates[int(number)].add(dt.date.fromisoformat((row.get(_DATE_COLUMN) or "").strip()))
    adapted = {number: min(each) for number, each in dates.items() if each}
    return TouchTruth({number: frozenset(each) for number, each in kinds.items()}, "a file", adapted)


def read_rows(text: str, what: str) -> list[dict[str, str]]:
    """Return the rows of a CSV. Raises UsageError if it is none."""
    try:
        return list(csv.DictReader(io.StringIO(text)))
    except csv.Error as error:
        raise UsageError(f"The file of {what} is no CSV ({error}): give another one.") from error


def mine_truth(
    commits: Iterable[NamingCommit], names: Iterable[str], merged: Mapping[int, datetime]
) -> TouchTruth:
    """Return the upstream merges that adapting commits of the downstream name after they were ``merged``.

    ``names`` are those of the upstream repository without its owner, as forks have other ones.
    """
    reference = build_reference(names)
    dates: dict[int, set[dt.date]] = defaultdict(set)
    for commit in commits:
        for number in list_causes(commit.message, reference):
            if number in merged and merged[number] <= commit.committed_at:
                dates[number].add(commit.committed_at.date())
    return TouchTruth(
        dict.fromkeys(sorted(dates), frozenset()),
        "the commit messages of the downstream",
        {number: min(each) for number, each in dates.items()},
    )
