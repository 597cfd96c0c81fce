"""Metrics of an order of merges in windows, such as weeks, against those that were named as causes.

Windows have weights, so that a bootstrap over windows measures the same order repeatedly. Undefined figures are
nan.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from impact.evaluation.bootstrap import DEFAULT_DRAWS, Estimate, build_estimate, draw_samples
from impact.evaluation.ranking_metrics import LabelledOrder, RankingOrder, compute_rate

# the share of merges that somebody would read first
TOP_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class TouchRanking:
    """The figures of one order; ``mean_precision`` is the mean over windows of their average precision.

    ``auc`` compares all merges, ``auc_within`` those of the same window. ``top`` is the share of named merges in
    the first tenth of all, ``top_within`` in the first tenths of their windows.
    """

    name: str
    auc: Estimate
    auc_within: Estimate
    mean_precision: Estimate
    top: Estimate
    top_within: Estimate


@dataclass(frozen=True, slots=True)
class _WindowFigures:
    """Figures of one window; ``won`` of ``pairs`` pairs of a named and another merge are in the right order."""

    won: float = 0.0
    pairs: int = 0
    precision: float = math.nan
    top: float = 0.0
    positives: int = 0


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Each figure of one order by its name: its value, and that of each sample."""

    values: dict[str, float]
    samples: dict[str, list[float]]


class TouchMeasurement:
    """Measurement of orders of the same merges. ``windows`` has the number of each merge's window, from 0."""

    def __init__(self, windows: Sequence[int], positives: Sequence[bool], draws: int = DEFAULT_DRAWS) -> None:
        self._windows = tuple(windows)
        self._positives = tuple(positives)
        self._count = max(windows, default=-1) + 1
        self._once = (1,) * self._count
        self._draws = draw_samples(self._count, draws)
        self._drawn: dict[str, _Drawn] = {}

    def measure_ranking(self, name: str, scores: Sequence[float]) -> TouchRanking:
        """Return the figures of an order; ``scores`` are in the order of the merges, the highest come first."""
        drawn = self._drawn[name] = self._draw_figures(scores)
        return TouchRanking(
            name,
            **{figure: build_estimate(drawn.values[figure], drawn.samples[figure]) for figure in drawn.values},
        )

    def compare_rankings(self, one: str, other: str, figure: str) -> Estimate:
        """Return by how much a figure of an order exceeds that of another; both have been measured."""
        first, second = self._drawn[one], self._drawn[other]
        pairs = zip(first.samples[figure], second.samples[figure], strict=True)
        return build_estimate(first.values[figure] - second.values[figure], (a - b for a, b in pairs))

    def estimate_share(self, parts: Sequence[float], wholes: Sequence[float]) -> Estimate:
        def compute_share(weights: Sequence[int]) -> float:
            return compute_rate(_weigh(weights, parts), _weigh(weights, wholes))

        return build_estimate(compute_share(self._once), map(compute_share, self._draws))

    def _draw_figures(self, scores: Sequence[float]) -> _Drawn:
        compute = self._prepare(scores)
        values = compute(self._once)
        samples: dict[str, list[float]] = {figure: [] for figure in values}
        for weights in self._draws:
            for figure, value in compute(weights).items():
                samples[figure].append(value)
        return _Drawn(values, samples)

    def _prepare(self, scores: Sequence[float]) -> Callable[[Sequence[int]], dict[str, float]]:
        order = RankingOrder(self._windows, scores)
        labelled = LabelledOrder(order, self._positives)
        parts = [_measure_window(*each) for each in self._split(scores)]
        tops = _sum_positives(self._windows, share_top(scores), self._positives, self._count)

        def compute(weights: Sequence[int]) -> dict[str, float]:
            named = [weight if part.positives else 0 for weight, part in zip(weights, parts, strict=True)]
            positives = _weigh(weights, [part.positives for part in parts])
            precisions = [part.precision if part.positives else 0.0 for part in parts]
            pairs = _weigh(weights, [part.pairs for part in parts])
            return {
                "auc": labelled.compute_auc(weights, order.accumulate_weights(weights)),
                "auc_within": compute_rate(_weigh(weights, [part.won for part in parts]), pairs),
                "mean_precision": compute_rate(_weigh(named, precisions), sum(named)),
                "top": compute_rate(_weigh(weights, tops), positives),
                "top_within": compute_rate(_weigh(weights, [part.top for part in parts]), positives),
            }

        return compute

    def _split(self, scores: Sequence[float]) -> list[tuple[list[float], list[bool]]]:
        split: list[tuple[list[float], list[bool]]] = [([], []) for _ in range(self._count)]
        for window, score, positive in zip(self._windows, scores, self._positives, strict=True):
            split[window][0].append(score)
            split[window][1].append(positive)
        return split


def share_top(scores: Sequence[float]) -> list[float]:
    """Return how much of a place in the first tenth each case has; cases that tie for the last ones share them."""
    places = math.ceil(TOP_SHARE * len(scores))
    groups: dict[float, int] = defaultdict(int)
    for score in scores:
        groups[score] += 1
    shares: dict[float, float] = {}
    for score in sorted(groups, reverse=True):
        part = min(places, groups[score])
        shares[score] = part / groups[score]
        places -= part
    return [shares[score] for score in scores]


def _measure_window(scores: Sequence[float], positives: Sequence[bool]) -> _WindowFigures:
    count = sum(positives)
    if not count:
        return _WindowFigures()
    order = RankingOrder([0] * len(scores), scores)
    labelled, totals = LabelledOrder(order, positives), order.accumulate_weights((1,))
    pairs = count * (len(scores) - count)
    top = sum(share for share, positive in zip(share_top(scores), positives, strict=True) if positive)
    won = labelled.compute_auc((1,), totals) * pairs if pairs else 0.0
    return _WindowFigures(won, pairs, labelled.compute_average_precision((1,), totals), top, count)


def _sum_positives(
    windows: Sequence[int], shares: Sequence[float], positives: Sequence[bool], count: int
) -> list[float]:
    sums = [0.0] * count
    for window, share, positive in zip(windows, shares, positives, strict=True):
        sums[window] += share if positive else 0.0
    return sums


def _weigh(weights: Sequence[int], values: Sequence[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, values, strict=True) if weight)
