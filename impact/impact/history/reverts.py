"""Reverts: pairs of pull requests of which one undoes the other, and which of them still hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from impact.history.merges import WrittenMerge

# how long reverts are looked for after a day: four of five come within a week
WATCH_WINDOW = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Revert:
    """A pair of pull requests: ``by`` reverts ``number`` or, if ``is_partial``, a part of it."""

    number: int
    by: int
    is_partial: bool = False


def expand_pairs(numbers: Iterable[int], reverts: Iterable[Revert]) -> frozenset[int]:
    others: dict[int, list[int]] = {}
    for revert in reverts:
        others.setdefault(revert.number, []).append(revert.by)
        others.setdefault(revert.by, []).append(revert.number)
    connected, new = set(numbers), list(numbers)
    while new:
        more = {other for number in new for other in others.get(number, ())} - connected
        connected |= more
        new = list(more)
    return frozenset(connected)


def select_standing(reverts: Iterable[Revert], pulls: Iterable[WrittenMerge]) -> tuple[Revert, ...]:
    """Return the full and partial reverts that still hold: those that were not fully reverted themselves."""
    merged = {pull.number: (pull.merge_time, pull.number) for pull in pulls}
    held: list[Revert] = []
    gone: set[int] = set()
    for revert in sorted(reverts, key=lambda revert: merged[revert.by], reverse=True):
        if revert.by not in gone:
            held.append(revert)
            if not revert.is_partial:
                gone.add(revert.number)
    return tuple(held)


def list_reverted_numbers(held: Iterable[Revert]) -> frozenset[int]:
    return frozenset(revert.number for revert in held if not revert.is_partial)
