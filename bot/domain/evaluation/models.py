"""The values of an evaluation, as it is printed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.evaluation.bootstrap import Estimate
from bot.domain.evaluation.labels import Window
from bot.domain.evaluation.measurement import Row, TopRow
from bot.domain.evaluation.path_shares import WithoutProduct
from bot.domain.evaluation.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Source:
    """What was measured: a repository's branch, or a record of one, and from when on its past was known."""

    repository: str
    branch: str
    history_from: dt.date


@dataclass(frozen=True, slots=True)
class Positives:
    """How many pull requests have a label, and how many of them were open when their digest was read."""

    label: str
    all: int
    open: int


@dataclass(frozen=True, slots=True)
class BandShare:
    """A band's share of the pull requests, and the share of each label among them."""

    band: str
    share: float
    rates: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """On how many pull requests a rule fired, the share of each label among them, and what it adds to the AUC."""

    rule: str
    fired: int
    rates: Mapping[str, float]
    effect: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Score:
    """A pull request's points."""

    number: int
    points: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The list of a repository, measured. ``days`` and the rows are of open pull requests, the rest of all.

    ``scores`` stand in the order of the merges.
    """

    source: Source
    window: Window
    rules: str
    pulls: int
    open: int
    days: int
    positives: tuple[Positives, ...]
    rows: tuple[Row, ...]
    gains: Mapping[str, Estimate]
    listed: tuple[TopRow, ...]
    bands: tuple[BandShare, ...]
    effects: tuple[RuleEffect, ...]
    without_product: WithoutProduct
    notes: tuple[str, ...]
    verdict: Verdict
    scores: tuple[Score, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(each.label for each in self.positives)
