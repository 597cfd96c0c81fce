"""What the page says of itself: what is sample, what is computed, and what would need a key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Try:
    """Something to type, and whether it goes into a thread."""

    text: str
    in_thread: bool = False


@dataclass(frozen=True, slots=True)
class About:
    """``line`` is the one that is always there; ``facts`` are what it opens, each with its heading."""

    title: str
    line: str
    facts: tuple[tuple[str, str], ...]
    tries: tuple[Try, ...]
