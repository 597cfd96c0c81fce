"""The values of an evaluation, in the form in which it is printed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.evaluation.bootstrap import Estimate
from bot.domain.evaluation.labels import EvaluationWindow
from bot.domain.evaluation.measurement import RankingRow, TopRow
from bot.domain.evaluation.path_shares import NonProductShare
from bot.domain.evaluation.verdict import EvaluationVerdict


@dataclass(frozen=True, slots=True)
class EvaluationSource:
    """The source of the data: the branch of a repository, or a record of one, and the start of its history."""

    repository: str
    branch: str
    history_from: dt.date


@dataclass(frozen=True, slots=True)
class PositiveCount:
    """The number of pull requests with a label, and how many of them were open when their digest was read."""

    label: str
    all: int
    open: int


@dataclass(frozen=True, slots=True)
class BandShare:
    """The share of the pull requests in a band, and the share of each label among them."""

    band: str
    share: float
    rates: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """The number of pull requests to which a rule applied, their shares by label, and its effect on the AUC."""

    rule: str
    fired: int
    rates: Mapping[str, float]
    effect: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class CaseScore:
    """The points of a pull request."""

    number: int
    points: float


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluation of the list of a repository. ``days`` and the rows are of open cases, all else of all cases.

    ``scores`` are in the order of the merges.
    """

    source: EvaluationSource
    window: EvaluationWindow
    rules: str
    pulls: int
    open: int
    days: int
    positives: tuple[PositiveCount, ...]
    rows: tuple[RankingRow, ...]
    gains: Mapping[str, Estimate]
    listed: tuple[TopRow, ...]
    bands: tuple[BandShare, ...]
    effects: tuple[RuleEffect, ...]
    without_product: NonProductShare
    notes: tuple[str, ...]
    verdict: EvaluationVerdict
    scores: tuple[CaseScore, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of ``positives``."""
        return tuple(each.label for each in self.positives)
