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
from bot.domain.evaluation.labels import HARM_LABEL, Case, EvaluationWindow, LabelledOutcome, build_cases
from bot.domain.evaluation.measurement import Measurement, RankingResult, compare_aucs
from bot.domain.evaluation.models import (
    BandShare,
    CaseScore,
    Evaluation,
    EvaluationSource,
    PositiveCount,
    RuleEffect,
)
from bot.domain.evaluation.path_shares import measure_non_product_share
from bot.domain.evaluation.verdict import judge_ranking
from bot.domain.history.file_history import FileHistory
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES, PathClasses
from bot.domain.risk.assessment import (
    RISK_THRESHOLD,
    RULES_VERSION,
    Risk,
    RiskBand,
    assess_pull_request,
    compute_points,
)
from bot.domain.risk.rules import RuleHit, collect_facts


@dataclass(frozen=True, slots=True)
class MergeHistory:
    """The data of an evaluation: merges, oldest first, what was known before each, and what happened to them.

    ``last`` is the last instant about which anything is known; ``classes`` sort the files of the repository;
    ``caveats`` are sentences about the source of the data.
    """

    source: EvaluationSource
    pulls: tuple[PullRequest, ...]
    past: FileHistory
    outcomes: Mapping[int, LabelledOutcome]
    labels: tuple[str, ...]
    last: datetime
    classes: PathClasses = DEFAULT_PATH_CLASSES
    caveats: tuple[str, ...] = ()


def evaluate_history(history: MergeHistory, window: EvaluationWindow) -> Evaluation:
    """Score each merge of the window by what was known before it, and measure the resulting list.

    Raises:
        UsageError: no pull request was merged in the window.
    """
    pulls, classes = _select_window(history, window), history.classes
    scored = [_score_pull(pull, classes, history.past) for pull in pulls]
    cases = build_cases(pulls, history.outcomes, window.zone)
    measurement = Measurement(cases, history.labels)
    points = [each.risk.points for each in scored]
    rules = measurement.measure_ranking("rules", points)
    lines = measurement.measure_ranking("lines added", [pull.additions for pull in pulls])
    # with equal points, every order is equally likely
    chance = measurement.measure_ranking("random", [0.0] * len(pulls))
    gains = {label: measurement.compare_rankings(rules, lines, label) for label in history.labels}
    silent = measure_non_product_share(pulls, classes)
    return Evaluation(
        source=history.source,
        window=window,
        rules=RULES_VERSION,
        pulls=len(pulls),
        open=sum(not case.is_known for case in cases),
        days=measurement.days,
        positives=tuple(_count_positives(measurement, label) for label in history.labels),
        rows=tuple(chain.from_iterable(zip(rules.rows, lines.rows, chance.rows, strict=True))),
        gains=gains,
        listed=measurement.measure_top(points, RISK_THRESHOLD),
        bands=_measure_bands(scored, cases, history.labels),
        effects=_measure_effects(scored, cases, measurement, rules),
        without_product=silent,
        notes=(
            *history.caveats,
            *caveats.check_history(history.pulls, window.start),
            *caveats.check_maturity(pulls, history.last),
            *caveats.check_path_classes(silent),
        ),
        verdict=judge_ranking(
            measurement.count_positives(HARM_LABEL), rules.get_row(HARM_LABEL).auc, gains[HARM_LABEL]
        ),
        scores=tuple(CaseScore(pull.number, score) for pull, score in zip(pulls, points, strict=True)),
    )


def _select_window(history: MergeHistory, window: EvaluationWindow) -> tuple[PullRequest, ...]:
    """Return the merges of a window. Raise UsageError if there are none."""
    pulls = tuple(pull for pull in history.pulls if pull.merge_time in window)
    if not pulls:
        why = f" ({history.caveats[0].rstrip('.')})" if history.caveats else ""
        raise UsageError(
            f"No pull request was merged into {history.source.repository} from {window.since} to "
            f"{window.until}{why}: choose other dates or another --branch."
        )
    return pulls


class _ScoredPull(NamedTuple):
    """A pull request's risk, and its points without each of the rules that matched."""

    risk: Risk
    without: Mapping[str, float]


def _score_pull(pull: PullRequest, classes: PathClasses, past: FileHistory) -> _ScoredPull:
    """Assess a pull request, and count its points without each rule."""
    risk = assess_pull_request(pull, classes, past)
    facts = collect_facts(pull, classes)

    def drop_rule(rule: str) -> list[RuleHit]:
        return [fired for fired in risk.fired if fired.rule != rule]

    return _ScoredPull(risk, {fired.rule: compute_points(facts, drop_rule(fired.rule)) for fired in risk.fired})


def _count_positives(measurement: Measurement, label: str) -> PositiveCount:
    """Return how many merges have a label, in all and among those with known outcomes."""
    return PositiveCount(
        label, measurement.count_positives(label, include_known=True), measurement.count_positives(label)
    )


def _measure_bands(
    scored: Sequence[_ScoredPull], cases: Sequence[Case], labels: Sequence[str]
) -> tuple[BandShare, ...]:
    """Return the share of merges and the rate of each label, by band."""

    def measure_band(band: RiskBand) -> BandShare:
        within = [case for case, each in zip(cases, scored, strict=True) if each.risk.band is band]
        return BandShare(band.label, len(within) / len(cases), _compute_rates(within, labels))

    return tuple(measure_band(band) for band in RiskBand)


def _measure_effects(
    scored: Sequence[_ScoredPull], cases: Sequence[Case], measurement: Measurement, rules: RankingResult
) -> tuple[RuleEffect, ...]:
    """Return, for each rule, how often it matched, the rates of labels, and the gain from the rule."""
    names = sorted({rule for each in scored for rule in each.without})

    def measure_rule(rule: str) -> RuleEffect:
        without = measurement.measure_aucs([each.without.get(rule, each.risk.points) for each in scored])
        matching = [case for case, each in zip(cases, scored, strict=True) if rule in each.without]
        gains = {label: compare_aucs(rules.aucs[label], without[label]) for label in measurement.labels}
        return RuleEffect(rule, len(matching), _compute_rates(matching, measurement.labels), gains)

    return tuple(measure_rule(rule) for rule in names)


def _compute_rates(cases: Sequence[Case], labels: Sequence[str]) -> dict[str, float]:
    """Return the share of cases with each label; nan without cases."""
    return {
        label: sum(label in case.labels for case in cases) / len(cases) if cases else math.nan for label in labels
    }
