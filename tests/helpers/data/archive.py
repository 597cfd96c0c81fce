"""Archived days for tests, and the texts in them that mean harm."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

from hypothesis import strategies as st

from bot.domain.archive.models import (
    ArchivedChange,
    ArchivedDay,
    ArchivedMerge,
    ArchivedOutcome,
    ArchiveHeading,
    RemovalDeadline,
)
from tests.hostile.tables.markdown import LINES

DATE = dt.date(2026, 2, 28)
END = datetime(2026, 3, 1, tzinfo=UTC)
HEADING = ArchiveHeading("Engine", "octo/engine", "UTC", "https://github.com", "https://pages.example/merges/")
_TAGS = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "]]>&amp;<!--", "</title><base href=//e>")
HOSTILE = (
    *LINES.values(),
    *_TAGS,
    "{{ 7 * 7 }}",
    "javascript:alert(1)",
    "a\r\nATTACH:x\r\nEND:VEVENT",
    "\x00\x0b\ufffe",
)


def change(name: str = "engine.count", **fields: Any) -> ArchivedChange:
    """A function that was removed."""
    made = ArchivedChange("function", "removed", name, before=f"def {name}()", path="engine/core.py", line=3)
    return replace(made, url="https://github.com/octo/engine/pull/1/files", **fields)


def outcome(by: int = 9, days: int = 3) -> ArchivedOutcome:
    """A revert some days after the end of the day."""
    return ArchivedOutcome("reverted", by, END + timedelta(days=days))


def merge(number: int = 1, **fields: Any) -> ArchivedMerge:
    """A merge with a summary, whose contract was read and has nothing in it."""
    made = ArchivedMerge(
        number,
        f"Change number {number}",
        f"https://github.com/octo/engine/pull/{number}",
        "ada-dev",
        END - timedelta(hours=12, minutes=-number),
        f"{number:040x}",
        "Engine and scheduling",
        headline=f"Requests are counted once {number}",
        type="SUBSTANTIAL",
        sections=(("What changed and why", "The *counter* moved to `engine`."),),
        files=("engine/core.py",),
        file_count=1,
        changes=(),
    )
    return replace(made, **fields)


def day(*merges: ArchivedMerge, date: dt.date = DATE) -> ArchivedDay:
    """A day with these merges, or with one; those of other dates are moved there."""
    shift = date - DATE
    moved = (replace(each, merged_at=each.merged_at + shift) for each in merges or (merge(),))
    return ArchivedDay(date, END + shift, tuple(sorted(moved, key=lambda each: each.merged_at, reverse=True)))


def days(count: int) -> tuple[ArchivedDay, ...]:
    """Consecutive days with two merges each, the last on ``DATE``."""
    dates = [DATE - timedelta(days=count - place - 1) for place in range(count)]
    return tuple(day(merge(2 * n + 1), merge(2 * n + 2), date=date) for n, date in enumerate(dates))


def deadline(name: str = "--old", **fields: Any) -> RemovalDeadline:
    """A deadline that its announcement names."""
    made = RemovalDeadline(dt.date(2026, 6, 1), "flag", name, 5, END, "2026-06-01", "--new")
    return replace(made, **fields)


def texts() -> st.SearchStrategy[str]:
    """Any text, and texts that mean harm."""
    return st.one_of(
        st.sampled_from(HOSTILE), st.text(max_size=60), st.lists(st.sampled_from(HOSTILE)).map("\n".join)
    )


def hostile_days() -> st.SearchStrategy[ArchivedDay]:
    """A day with such texts in every place of a text of somebody else."""
    changes = st.builds(change, texts(), new_name=texts(), before=texts(), after=texts(), replacement=texts())
    merges = st.builds(
        merge,
        title=texts(),
        author=texts(),
        area=texts(),
        headline=texts(),
        sections=st.tuples(st.tuples(st.just("What changed and why"), texts())),
        files=st.tuples(texts()),
        changes=st.tuples(changes),
    )
    return merges.map(day)


class Page(HTMLParser):
    """The elements of a page, their attributes and their text, as a browser reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.elements.append(("comment", {}))

    def list_values(self, name: str, tags: Iterable[str] = ()) -> list[str]:
        """The values of an attribute."""
        return [
            attributes[name]
            for tag, attributes in self.elements
            if name in attributes and (not tags or tag in tags)
        ]
