"""What people said about hits that they were shown, and how good the hits were by that."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.reference import Reference
from impact.contract.models import ChangeKind, ContractChange
from impact.touches.models import TouchLevel


class TouchVerdict(StrEnum):
    """What somebody says about a hit. Stored: never changed. ``bot.render`` has the words that people read."""

    OURS = "ours to do"
    NOT_US = "not us"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class HitKey:
    """A hit: a change of one merge. ``change`` is what :func:`hash_change` returns, short enough for a button.

    Without a ``change`` it stands for all hits of the merge.
    """

    reference: Reference
    change: str = ""

    def __str__(self) -> str:
        return f"{self.reference} {self.change}"


def hash_change(change: ContractChange) -> str:
    """Return twelve hexadecimal digits that name a change among those of its merge.

    They don't depend on its line, so that an extraction of a later version gives the same.
    """
    parts = "\0".join((change.subject, change.kind, change.name))
    return hashlib.sha256(parts.encode(errors="replace")).hexdigest()[:12]


def build_hit_key(repository: Repository, number: int, change: ContractChange) -> HitKey:
    """Return the key of a change of the merge of a pull request."""
    return HitKey(Reference(repository, number), hash_change(change))


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit when it was first shown. ``shown_at`` is in UTC."""

    key: HitKey
    level: TouchLevel
    kind: ChangeKind
    name: str
    shown_at: datetime


@dataclass(frozen=True, slots=True)
class TouchDecision:
    """What somebody said about a hit last. ``by`` is the id of a Slack user, ``at`` is in UTC."""

    key: HitKey
    verdict: TouchVerdict
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class LevelScore:
    """The hits of one level that were shown, and how many have each verdict."""

    level: TouchLevel
    shown: int = 0
    ours: int = 0
    done: int = 0
    not_us: int = 0

    @property
    def judged(self) -> int:
        """The number of hits about which somebody said something."""
        return self.right + self.not_us

    @property
    def right(self) -> int:
        """The number of hits that somebody has to do, or did, something about."""
        return self.ours + self.done

    @property
    def open(self) -> int:
        """The number of hits about which nobody said anything."""
        return self.shown - self.judged


def score_decisions(
    hits: Iterable[ShownHit], decisions: Iterable[TouchDecision], levels: Iterable[TouchLevel] | None = None
) -> tuple[LevelScore, ...]:
    """Return the score of each level, strongest first.

    A hit counts once, with what was said about it last, or else about its merge.
    """
    verdicts = {decision.key: decision.verdict for decision in decisions}
    every = {hit.key: hit for hit in hits}.values()
    counts = Counter(
        (hit.level, verdicts.get(hit.key) or verdicts.get(HitKey(hit.key.reference))) for hit in every
    )
    shown_levels = levels or (TouchLevel.BREAKS, TouchLevel.MAY_BREAK, TouchLevel.TOUCHES)
    return tuple(
        LevelScore(
            level,
            sum(count for (each, _), count in counts.items() if each is level),
            counts[level, TouchVerdict.OURS],
            counts[level, TouchVerdict.DONE],
            counts[level, TouchVerdict.NOT_US],
        )
        for level in shown_levels
    )
