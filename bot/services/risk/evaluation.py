"""Evaluation of the risk list on merges with known outcomes, strict in time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import NamedTuple

from bot.domain.errors import UsageError
from bot.domain.evaluation import caveats
from bot.domain.evaluation.labels import HARD, Case, Outcome, Window, cases_of
from bot.domain.evaluation.measurement import Measurement, Ranking
from bot.domain.evaluation.models import BandShare, Evaluation, Positives, RuleEffect, Score, Source
from bot.domain.evaluation.path_shares import without_product
from bot.domain.evaluation.verdict import verdict
from bot.domain.history.file_history import Past
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import DEFAULT_PATHS, PathClasses
from bot.domain.risk.assessment import RULES, THRESHOLD, Band, Risk, assess, points_of
from bot.domain.risk.rules import Fired, facts_of


@dataclass(frozen=True, slots=True)
class History:
    """The data of an evaluation: merges, oldest first, what was known before each, and what happened to them.

    ``last`` is the last instant about which anything is known; ``classes`` sort the files of the repository;
    ``doubts`` are sentences about the source of the data.
    """

    source: Source
    pulls: tuple[PullRequest, ...]
    past: Past
    outcomes: Mapping[int, Outcome]
    labels: tuple[str, ...]
    last: datetime
    classes: PathClasses = DEFAULT_PATHS
    doubts: tuple[str, ...] = ()


def evaluate(history: History, window: Window) -> Evaluation:
    """Score each merge of the window by what was known before it, and measure the resulting list.

    Raises:
        UsageError: no pull request was merged in the window.
    """
    pulls, classes = _within(history, window), history.classes
    scored = [_scored(pull, classes, history.past) for pull in pulls]
    cases = cases_of(pulls, history.outcomes, window.zone)
    measurement = Measurement(cases, history.labels)
    points = [each.risk.points for each in scored]
    rules = measurement.ranking("rules", points)
    lines = measurement.ranking("lines added", [pull.additions for pull in pulls])
    # with equal points, every order is equally likely
    chance = measurement.ranking("random", [0.0] * len(pulls))
    gains = {label: measurement.difference(rules, lines, label) for label in history.labels}
    silent = without_product(pulls, classes)
    return Evaluation(
        source=history.source,
        window=window,
        rules=RULES,
        pulls=len(pulls),
        open=sum(not case.is_known for case in cases),
        days=measurement.days,
        positives=tuple(_positives(measurement, label) for label in history.labels),
        rows=tuple(chain.from_iterable(zip(rules.rows, lines.rows, chance.rows, strict=True))),
        gains=gains,
        listed=measurement.top(points, THRESHOLD),
        bands=_bands(scored, cases, history.labels),
        effects=_effects(scored, cases, measurement, rules),
        without_product=silent,
        notes=(
            *history.doubts,
            *caveats.on_history(history.pulls, window.start),
            *caveats.on_age(pulls, history.last),
            *caveats.on_classes(silent),
        ),
        verdict=verdict(measurement.positives(HARD), rules.row(HARD).auc, gains[HARD]),
        scores=tuple(Score(pull.number, score) for pull, score in zip(pulls, points, strict=True)),
    )


def _within(history: History, window: Window) -> tuple[PullRequest, ...]:
    """Return the merges of a window. Raise UsageError if there are none."""
    pulls = tuple(pull for pull in history.pulls if pull.merge_time in window)
    if not pulls:
        why = f" ({history.doubts[0].rstrip('.')})" if history.doubts else ""
        raise UsageError(
            f"No pull request was merged in {history.source.repository} from {window.since} to {window.until}"
            f"{why}: choose other dates or another --branch."
        )
    return pulls


class _Scored(NamedTuple):
    """A pull request's risk, and its points without each of the rules that matched."""

    risk: Risk
    without: Mapping[str, float]


def _scored(pull: PullRequest, classes: PathClasses, past: Past) -> _Scored:
    """Assess a pull request, and count its points without each rule."""
    risk = assess(pull, classes, past)
    facts = facts_of(pull, classes)

    def drop_rule(rule: str) -> list[Fired]:
        return [fired for fired in risk.fired if fired.rule != rule]

    return _Scored(risk, {fired.rule: points_of(facts, drop_rule(fired.rule)) for fired in risk.fired})


def _positives(measurement: Measurement, label: str) -> Positives:
    """Return how many merges have a label, in all and among those with known outcomes."""
    return Positives(label, measurement.positives(label, known=True), measurement.positives(label))


def _bands(scored: Sequence[_Scored], cases: Sequence[Case], labels: Sequence[str]) -> tuple[BandShare, ...]:
    """Return the share of merges and the rate of each label, by band."""

    def measure_band(band: Band) -> BandShare:
        within = [case for case, each in zip(cases, scored, strict=True) if each.risk.band is band]
        return BandShare(band.label, len(within) / len(cases), _rates(within, labels))

    return tuple(measure_band(band) for band in Band)


def _effects(
    scored: Sequence[_Scored], cases: Sequence[Case], measurement: Measurement, rules: Ranking
) -> tuple[RuleEffect, ...]:
    """Return, for each rule, how often it matched, the rates of labels, and the gain from the rule."""
    names = sorted({rule for each in scored for rule in each.without})

    def measure_rule(rule: str) -> RuleEffect:
        without = measurement.ranking(rule, [each.without.get(rule, each.risk.points) for each in scored])
        matching = [case for case, each in zip(cases, scored, strict=True) if rule in each.without]
        gains = {label: measurement.difference(rules, without, label) for label in measurement.labels}
        return RuleEffect(rule, len(matching), _rates(matching, measurement.labels), gains)

    return tuple(measure_rule(rule) for rule in names)


def _rates(cases: Sequence[Case], labels: Sequence[str]) -> dict[str, float]:
    """Return the share of cases with each label; nan without cases."""
    return {
        label: sum(label in case.labels for case in cases) / len(cases) if cases else math.nan for label in labels
    }
