"""A replay of the past: upstream merges as judged for a downstream, and what was named later."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

from impact.touches.models import RankFigures, TouchLevel

# what a change did, in the words of a list of truth; the kinds that a structural change has
STRUCTURAL_KINDS = frozenset({"removed", "moved", "renamed", "signature", "new_abstract"})


@dataclass(frozen=True, slots=True)
class TouchCase:
    """A merge as it was judged in a window of a replay. ``day`` is its date in UTC.

    ``lines`` is how many it added and deleted, ``imported`` how many of its files the downstream imports.
    ``change`` and ``use`` are its strongest touch as text. ``hit_lines`` counts the downstream lines behind its
    level BREAKS, ``changed_lines`` those of them that the downstream changed before the next window.
    """

    number: int
    day: dt.date
    window: int
    lines: int = 0
    imported: int = 0
    level: TouchLevel = TouchLevel.NO
    score: float = 0.0
    change: str = ""
    use: str = ""
    hit_lines: int = 0
    changed_lines: int = 0
    figures: RankFigures = field(default_factory=RankFigures)


@dataclass(frozen=True, slots=True)
class WindowSummary:
    """What a window was judged by: the downstream commit, its uses, and how many of their lines changed later.

    ``alone`` says as a clause why the rules judged without the type checker.
    """

    title: str
    commit: str
    merges: int
    uses: int = 0
    used_lines: int = 0
    changed_lines: int = 0
    alone: str = ""


@dataclass(frozen=True, slots=True)
class TouchTruth:
    """The merges that a downstream named as causes of adaptations, with the kinds of change if known.

    ``adapted`` has the UTC dates of the first adaptation, as far as they are known.
    """

    kinds: Mapping[int, frozenset[str]] = field(default_factory=dict)
    source: str = ""
    adapted: Mapping[int, dt.date] = field(default_factory=dict)
