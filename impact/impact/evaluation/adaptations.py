"""The upstream merges that a downstream named as causes of its adaptations: the truth of a replay."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from impact.errors import UsageError

_NUMBER_COLUMN, _KIND_COLUMN, _DATE_COLUMN = "upstream_pr", "kind", "date"
# words of a commit that follows upstream; others that name a merge bring something over or just refer to it
_ADAPTING = re.compile(
    r"\b(?:adapt|upgrad|bump|sync|rebas|main2main|align|compat|fix|break|broke|caus|due to|introduc|since|after|"
    r"follow|updat|hourly|nightly|renam|remov|mov|chang)\w{0,12}",
    re.I,
)
_PORTING = re.compile(r"\b(?:cherry.?pick|back.?port|port(?:ed|ing)? (?:of|from)|revert)\w{0,5}", re.I)
_MAX_LINE = 2_000
# digits of a number of a pull request
_NUMBER = r"(?P<number>[1-9]\d{0,8})(?!\d)"


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
    reference = _build_reference(names)
    dates: dict[int, set[dt.date]] = defaultdict(set)
    for commit in commits:
        for number in _list_named(commit.message, reference):
            if number in merged and merged[number] <= commit.committed_at:
                dates[number].add(commit.committed_at.date())
    return TouchTruth(
        dict.fromkeys(sorted(dates), frozenset()),
        "the commit messages of the downstream",
        {number: min(each) for number, each in dates.items()},
    )


def _list_named(message: str, reference: re.Pattern[str]) -> Iterator[int]:
    subject = message.partition("\n")[0][:_MAX_LINE]
    if _PORTING.search(subject):
        return
    is_adapting = bool(_ADAPTING.search(subject))
    before = ""
    for line in (each[:_MAX_LINE] for each in message.split("\n")):
        # a long sentence is broken before the address
        if is_adapting or _ADAPTING.search(line) or _ADAPTING.search(before):
            yield from (int(match["number"] or match["linked"]) for match in reference.finditer(line))
        before = line


def _build_reference(names: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of a reference to a pull request: an address, ``owner/name#7``, ``Name PR #7``."""
    text = f"(?:{'|'.join(map(re.escape, names))})"
    return re.compile(
        rf"(?<![\w.-])[\w.-]{{1,100}}/{text}/(?:pull|issues)/(?P<linked>[1-9]\d{{0,8}})(?!\d)"
        rf"|(?<![\w-]){text}(?: (?:PR|pull request|pull))? ?#{_NUMBER}",
        re.I | re.A,
    )
