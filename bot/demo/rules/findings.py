"""Reads what the tools say, and the record of a thread, back into values.

How they write is in ``bot/services/questions/tools/context_text.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_LINE = re.compile(
    r"#(?P<number>\d{1,9}) (?P<said>.*) \| (?P<type>TRIVIAL|SUBSTANTIAL), (?P<area>[^|]*)"
    r" \| by (?P<author>\S+), merged (?P<when>\S+ \S+) by (?P<merger>\S+)"
    r" \| (?P<size>[^|]*) \| risk (?P<band>\w+)(?: without history)?(?: \((?P<reasons>.*)\))?"
    r"(?: \| takes another back)?"
)
_MERGED = re.compile(r", (?P<days>\S+) \(\S+\): (?P<count>[\d,]+) pull requests? merged, newest first")
_HIT = re.compile(r"#(?P<number>\d{1,9}) (?P<place>title|description|headline|summary, [a-z ]+): (?P<text>.*)")
_MARK = re.compile(r'</?(?:data|record|question) id="\w+">')
_CHANGED = re.compile(r" [+-](\d{1,12})")
_FILES, _DESCRIPTION = "Files: ", "Description:"
_FILE = re.compile(r"(?P<path>\S+) \(\w+, \+\d+ -\d+\)")
_SECTIONS = ("What changed and why", "Technical impact", "Potential risks", "Key insights", "Action")


@dataclass
class Told:
    """What was told of a pull request. ``sections`` and ``files`` are empty where only its line was."""

    number: int
    title: str
    headline: str
    area: str
    author: str
    merger: str
    when: str
    size: str
    band: str
    reasons: str
    sections: dict[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    @property
    def action(self) -> str:
        return self.sections.get("Action", "")

    @property
    def is_whole(self) -> bool:
        return bool(self.sections)

    @property
    def text(self) -> str:
        """All of it, for those who look for words."""
        own = (self.title, self.headline, self.area, self.author, self.merger)
        return "\n".join([*own, *self.sections.values(), *self.files])

    @property
    def changed_lines(self) -> int:
        return sum(map(int, _CHANGED.findall(self.size)))


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that a search found; ``place`` is title, description, headline or a part of the summary."""

    number: int
    place: str

    @property
    def is_strong(self) -> bool:
        """Whether what was found says what the pull request is about."""
        return self.place in ("title", "headline")


def told_in(text: str) -> dict[int, Told]:
    """The pull requests of a list, of a record, or a single one."""
    found: dict[int, Told] = {}
    now: Told | None = None
    for line in lines_of(text):
        begun = _told(line)
        if begun:
            found[begun.number] = now = begun
        elif line == _DESCRIPTION:
            # what is said from here on are the words of strangers
            now = None
        elif now:
            _add(now, line)
    return found


def lines_of(text: str) -> list[str]:
    """Its lines less the marks around it."""
    return [line for line in text.splitlines() if not _MARK.fullmatch(line)]


def _told(line: str) -> Told | None:
    found = _LINE.fullmatch(line)
    if not found:
        return None
    # a summary that is none yet has no headline
    title, _, headline = found["said"].rpartition(" | ")
    return Told(
        number=int(found["number"]),
        title=title or headline,
        headline=headline if title else "",
        area=found["area"],
        author=found["author"],
        merger=found["merger"],
        when=found["when"],
        size=found["size"],
        band=found["band"],
        reasons=found["reasons"] or "",
    )


def _add(told: Told, line: str) -> None:
    name, _, said = line.strip().partition(": ")
    if line.startswith(_FILES):
        told.files = tuple(found["path"] for found in _FILE.finditer(line))
    elif name in _SECTIONS and said:
        told.sections.setdefault(name, said)


def hits_in(text: str) -> tuple[Hit, ...]:
    """What a search of texts found."""
    found = (_HIT.fullmatch(line) for line in lines_of(text))
    return tuple(Hit(int(each["number"]), each["place"]) for each in found if each)


@dataclass(frozen=True, slots=True)
class Merged:
    """Some days, as they are written, and how many pull requests were merged in them."""

    days: str
    count: int


def merged_in(texts: Iterable[str]) -> Merged:
    """What the first list says of its days."""
    found = next((each for text in texts if (each := _MERGED.search(text))), None)
    return Merged(found["days"], int(found["count"].replace(",", ""))) if found else Merged("", 0)
