"""Reads what the tools say, and the record of a thread, back into values.

How they write is in ``bot/services/questions/tools/context_text.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_PULL_REQUEST_LINE = re.compile(
    r"#(?P<number>\d{1,9}) (?P<said>.*) \| (?P<type>TRIVIAL|SUBSTANTIAL), (?P<area>[^|]*)"
    r" \| by (?P<author>\S+), merged (?P<when>\S+ \S+) by (?P<merger>\S+)"
    r" \| (?P<size>[^|]*) \| risk (?P<band>\w+)(?: without history)?(?: \((?P<reasons>.*)\))?"
    r"(?: \| takes another back)?"
)
_DAYS_LINE = re.compile(r", (?P<days>\S+) \(\S+\): (?P<count>[\d,]+) pull requests? merged, newest first")
_HIT_LINE = re.compile(
    r"#(?P<number>\d{1,9}) (?P<place>title|description|headline|summary, [a-z ]+): (?P<text>.*)"
)
_DATA_MARK = re.compile(r'</?(?:data|record|question) id="\w+">')
_CHANGED_LINES = re.compile(r" [+-](\d{1,12})")
_FILES_LABEL, _DESCRIPTION_LABEL = "Files: ", "Description:"
_FILE_PATTERN = re.compile(r"(?P<path>\S+) \(\w+, \+\d+ -\d+\)")
_SECTION_NAMES = ("What changed and why", "Technical impact", "Potential risks", "Key insights", "Action")


@dataclass
class PullRequestFacts:
    """What was told of a pull request. ``sections`` and ``files`` are empty where only its line was."""

    number: int
    title: str
    headline: str
    area: str
    author: str
    merger: str
    merge_time: str
    size: str
    band: str
    reasons: str
    sections: dict[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    @property
    def action(self) -> str:
        return self.sections.get("Action", "")

    @property
    def is_complete(self) -> bool:
        return bool(self.sections)

    @property
    def text(self) -> str:
        """All of it, for those who look for words."""
        own = (self.title, self.headline, self.area, self.author, self.merger)
        return "\n".join([*own, *self.sections.values(), *self.files])

    @property
    def changed_lines(self) -> int:
        return sum(map(int, _CHANGED_LINES.findall(self.size)))


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A line that a search found; ``place`` is title, description, headline or a part of the summary."""

    number: int
    part: str

    @property
    def is_strong(self) -> bool:
        """Whether what was found says what the pull request is about."""
        return self.part in ("title", "headline")


def parse_pull_requests(text: str) -> dict[int, PullRequestFacts]:
    """The pull requests of a list, of a record, or a single one."""
    found: dict[int, PullRequestFacts] = {}
    now: PullRequestFacts | None = None
    for line in split_lines(text):
        begun = _parse_line(line)
        if begun:
            found[begun.number] = now = begun
        elif line == _DESCRIPTION_LABEL:
            # what is said from here on are the words of strangers
            now = None
        elif now:
            _add_detail(now, line)
    return found


def split_lines(text: str) -> list[str]:
    """Its lines less the marks around it."""
    return [line for line in text.splitlines() if not _DATA_MARK.fullmatch(line)]


def _parse_line(line: str) -> PullRequestFacts | None:
    found = _PULL_REQUEST_LINE.fullmatch(line)
    if not found:
        return None
    # a summary that is none yet has no headline
    title, _, headline = found["said"].rpartition(" | ")
    return PullRequestFacts(
        number=int(found["number"]),
        title=title or headline,
        headline=headline if title else "",
        area=found["area"],
        author=found["author"],
        merger=found["merger"],
        merge_time=found["when"],
        size=found["size"],
        band=found["band"],
        reasons=found["reasons"] or "",
    )


def _add_detail(told: PullRequestFacts, line: str) -> None:
    name, _, said = line.strip().partition(": ")
    if line.startswith(_FILES_LABEL):
        told.files = tuple(found["path"] for found in _FILE_PATTERN.finditer(line))
    elif name in _SECTION_NAMES and said:
        told.sections.setdefault(name, said)


def parse_hits(text: str) -> tuple[SearchHit, ...]:
    """What a search of texts found."""
    found = (_HIT_LINE.fullmatch(line) for line in split_lines(text))
    return tuple(SearchHit(int(each["number"]), each["place"]) for each in found if each)


@dataclass(frozen=True, slots=True)
class MergedDays:
    """Some days, as they are written, and how many pull requests were merged in them."""

    days: str
    count: int


def parse_merged_days(texts: Iterable[str]) -> MergedDays:
    """What the first list says of its days."""
    found = next((each for text in texts if (each := _DAYS_LINE.search(text))), None)
    return MergedDays(found["days"], int(found["count"].replace(",", ""))) if found else MergedDays("", 0)
