"""The order in which Python looks for members in a class's ancestors."""

from __future__ import annotations

from collections.abc import Sequence

# ancestors of one class that are kept
_MAX_ANCESTORS = 200


def merge_lines(lines: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Merge the lines of the bases as Python does (C3); if they contradict, keep the first place of each."""
    waiting = [list(line) for line in lines if line]
    merged: list[str] = []
    while waiting and len(merged) < _MAX_ANCESTORS:
        tails = {name for line in waiting for name in line[1:]}
        head = next((line[0] for line in waiting if line[0] not in tails), waiting[0][0])
        merged.append(head)
        waiting = [rest for line in waiting if (rest := [name for name in line if name != head])]
    return tuple(merged)
