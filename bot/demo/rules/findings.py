"""Parser of the tools' results, and of the record of a thread.

Both are written by ``bot/services/questions/tools/context_text.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_PULL_REQUEST_LINE = re.compile(
    r"#(?P<number>\d{1,9}) (?P<text>.*) \| (?P<type>TRIVIAL|SUBSTANTIAL), (?P<area>[^|]*)"
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
    """Facts about a pull request. ``sections`` and ``files`` are empty if only its line was shown."""

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
        """What users have to do, empty if nothing."""
        return self.sections.get("Action", "")

    @property
    def is_complete(self) -> bool:
        """Whether more than its line was shown."""
        return bool(self.sections)

    @property
    def text(self) -> str:
        """The whole text, for searches."""
        own = (self.title, self.headline, self.area, self.author, self.merger)
        return "\n".join([*own, *self.sections.values(), *self.files])

    @property
    def changed_lines(self) -> int:
        """The number of changed lines."""
        return sum(map(int, _CHANGED_LINES.findall(self.size)))


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A line that a search found. ``part`` is title, description, headline or a section of the summary."""

    number: int
    part: str

    @property
    def is_strong(self) -> bool:
        """Whether the found text says what the pull request is about."""
        return self.part in ("title", "headline")


def parse_pull_requests(text: str) -> dict[int, PullRequestFacts]:
    """Parse the pull requests of a list, of a record, or a single one, by number."""
    pulls: dict[int, PullRequestFacts] = {}
    current: PullRequestFacts | None = None
    for line in split_lines(text):
        parsed = _parse_line(line)
        if parsed:
            pulls[parsed.number] = current = parsed
        elif line == _DESCRIPTION_LABEL:
            # the rest is text of strangers
            current = None
        elif current:
            _add_detail(current, line)
    return pulls


def split_lines(text: str) -> list[str]:
    """Return the lines of a text without the marks around it."""
    return [line for line in text.splitlines() if not _DATA_MARK.fullmatch(line)]


def _parse_line(line: str) -> PullRequestFacts | None:
    """Parse the line of a pull request. Return None for another line."""
    match = _PULL_REQUEST_LINE.fullmatch(line)
    if not match:
        return None
    # without a summary there is no headline
    title, _, headline = match["text"].rpartition(" | ")
    return PullRequestFacts(
        number=int(match["number"]),
        title=title or headline,
        headline=headline if title else "",
        area=match["area"],
        author=match["author"],
        merger=match["merger"],
        merge_time=match["when"],
        size=match["size"],
        band=match["band"],
        reasons=match["reasons"] or "",
    )


def _add_detail(pull: PullRequestFacts, line: str) -> None:
    """Add the files or the section of a line to a pull request."""
    name, _, text = line.strip().partition(": ")
    if line.startswith(_FILES_LABEL):
        pull.files = tuple(match["path"] for match in _FILE_PATTERN.finditer(line))
    elif name in _SECTION_NAMES and text:
        pull.sections.setdefault(name, text)


def parse_hits(text: str) -> tuple[SearchHit, ...]:
    """Parse the result of a search."""
    matches = (_HIT_LINE.fullmatch(line) for line in split_lines(text))
    return tuple(SearchHit(int(match["number"]), match["place"]) for match in matches if match)


@dataclass(frozen=True, slots=True)
class MergedDays:
    """Days as the tools write them, and the number of pull requests merged in them."""

    days: str
    count: int


def parse_merged_days(texts: Iterable[str]) -> MergedDays:
    """Parse the days of the first list; empty if there is no list."""
    first = next((match for text in texts if (match := _DAYS_LINE.search(text))), None)
    return MergedDays(first["days"], int(first["count"].replace(",", ""))) if first else MergedDays("", 0)
