"""What the page says of itself: what is sample, what is computed, and what would need a key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Try:
    """Something to type, and whether it goes into a thread."""

    text: str
    in_thread: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """Something to know, under its heading."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class About:
    """``line`` is the one that is always there; ``facts`` are what it opens."""

    title: str
    line: str
    facts: tuple[Fact, ...]
    tries: tuple[Try, ...]
