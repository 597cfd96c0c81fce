"""Lines of a file that a change put in the place of others."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that are gone, and those in their place. ``old`` and ``new`` count the first ones from 1."""

    old: int
    new: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


def list_hunks(before: str, after: str) -> Iterator[Hunk]:
    """Yield what changed between the lines that each side has once, in n log n; some lines may be unchanged."""
    old, new = before.split("\n"), after.split("\n")
    i = j = 0
    for anchor_old, anchor_new in [*_list_anchors(old, new), (len(old), len(new))]:
        if i < anchor_old or j < anchor_new:
            (start, end), (other, other_end) = (i, anchor_old), (j, anchor_new)
            while start < end and other < other_end and old[start] == new[other]:
                start, other = start + 1, other + 1
            while start < end and other < other_end and old[end - 1] == new[other_end - 1]:
                end, other_end = end - 1, other_end - 1
            if start < end or other < other_end:
                yield Hunk(start + 1, other + 1, tuple(old[start:end]), tuple(new[other:other_end]))
        i, j = anchor_old + 1, anchor_new + 1


def _list_anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest run of lines that both sides have once, in the order of both."""
    counts = Counter(old), Counter(new)
    places = {line: index for index, line in enumerate(new) if counts[1][line] == 1}
    pairs = [(index, places[line]) for index, line in enumerate(old) if counts[0][line] == 1 and line in places]
    ends: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(tops[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            tops.append(index)
        else:
            ends[length], tops[length] = place, index
    run = []
    index = tops[-1] if tops else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]
