"""The evaluation of the risk list on merges with known outcomes, strict in time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

from bot.errors import UsageError
from bot.features.merges.risk import (
    MIN_HISTORY,
    RISK_THRESHOLD,
    RULES_VERSION,
    FileHistory,
    Risk,
    RiskBand,
    assess_pull_request,
    collect_facts,
    compute_points,
)
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import PathClass, PathClasses
from bot.text import format_count
from evals.merges import HARMED, LABEL_MATURITY, Case, MergeHistory, MergeSource, build_cases
from evals.ranking import Measurement, Ranking, RankingRow, TopRow
from impact.evaluation.ranking_metrics import Estimate
from impact.evaluation.window import EvaluationWindow
from impact.text.strings import collapse_lines

_RATED_CLASSES = (PathClass.PRODUCT, PathClass.BUILD, PathClass.LOCK)
# shares: in three repositories about a fifth of the merges touch no product; with a third a list was wrong
_USUAL_SHARE, _MAX_SHARE = 0.20, 0.30
_MAX_PLACES = 5
# with 20 positives the 95% interval of an AUC of .7 extends about .13 to each side (standard error by Hanley and
# McNeil 1982): with fewer, .7 could hardly be distinguished from chance
_MIN_POSITIVES = 20
# the AUC of chance, and of a usable list: the interval of vLLM's rules begins at .61; those of two other
# repositories, where the list did not help, begin at .48 and .54
_CHANCE_AUC, _USABLE_AUC = 0.50, 0.55
_RECORD_ZONE = "America/Los_Angeles"


@dataclass(frozen=True, slots=True)
class PositiveCount:
    """The number of pull requests with a label, and how many of them were open when their digest was read."""

    label: str
    all: int
    open: int


@dataclass(frozen=True, slots=True)
class BandShare:
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
class PathShare:
    """A folder (``examples/``) or kind of file (``*.yaml``), its class, and how many pull requests touch it."""

    pattern: str
    kind: PathClass
    pulls: int


@dataclass(frozen=True, slots=True)
class NonProductShare:
    """The share of pull requests to which no rule applies, and the places that they touch, most frequent first."""

    share: float
    places: tuple[PathShare, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    signal: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluation of a list. ``days`` and ``rows`` are of open cases, all else of all cases.

    ``scores`` has the number and the points of each pull request, in the order of the merges.
    """

    source: MergeSource
    window: Mapping[str, str]
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
    verdict: Verdict
    scores: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class _ScoredPull:
    """A pull request's risk, and its points without each of the rules that applied."""

    risk: Risk
    without: Mapping[str, float]


def evaluate_history(history: MergeHistory, window: EvaluationWindow, zone: ZoneInfo) -> Evaluation:
    """Score each merge of the window by what was known before it, and measure the resulting list.

    Raises:
        UsageError: no pull request was merged in the window.
    """
    pulls = [pull for pull in history.pulls if pull.merge_time in window]
    if not pulls:
        why = f" ({history.caveats[0].rstrip('.')})" if history.caveats else ""
        raise UsageError(
            f"No pull request was merged into {history.source.repository} from {window.since} to "
            f"{window.until}{why}: choose other dates or another --branch."
        )
    labels = history.labels
    scored = [_score_pull(pull, history.classes, history.past) for pull in pulls]
    points = [each.risk.points for each in scored]
    cases = build_cases(pulls, history.outcomes, zone)
    measurement = Measurement(cases, labels)
    rules = measurement.measure_ranking("rules", points)
    lines = measurement.measure_ranking("lines added", [pull.additions for pull in pulls])
    # with equal points, every order is equally likely
    chance = measurement.measure_ranking("random", [0.0] * len(pulls))
    gains = {label: rules.aucs[label].compare(lines.aucs[label]) for label in labels}
    silent = measure_non_product_share(pulls, history.classes)
    return Evaluation(
        source=history.source,
        window={"since": str(window.since), "until": str(window.until), "timezone": str(zone)},
        rules=RULES_VERSION,
        pulls=len(pulls),
        open=sum(not case.is_known for case in cases),
        days=measurement.days,
        positives=tuple(
            PositiveCount(
                label, measurement.count_positives(label, include_known=True), measurement.count_positives(label)
            )
            for label in labels
        ),
        rows=tuple(ranking.rows[label] for label in labels for ranking in (rules, lines, chance)),
        gains=gains,
        listed=measurement.measure_top(points, RISK_THRESHOLD),
        bands=tuple(_measure_band(band, scored, cases, labels) for band in RiskBand),
        effects=tuple(_measure_effects(scored, cases, measurement, rules)),
        without_product=silent,
        notes=(*history.caveats, *list_caveats(history, window, pulls, silent)),
        verdict=judge_ranking(measurement.count_positives(HARMED), rules.rows[HARMED].auc, gains[HARMED]),
        scores=tuple((pull.number, score) for pull, score in zip(pulls, points, strict=True)),
    )


def _score_pull(pull: PullRequest, classes: PathClasses, past: FileHistory) -> _ScoredPull:
    assessed, facts = assess_pull_request(pull, classes, past), collect_facts(pull, classes)
    without = {
        rule: compute_points(facts, [hit for hit in assessed.fired if hit.rule != rule])
        for rule in {hit.rule for hit in assessed.fired}
    }
    return _ScoredPull(assessed, without)


def _measure_band(
    band: RiskBand, scored: Sequence[_ScoredPull], cases: Sequence[Case], labels: Sequence[str]
) -> BandShare:
    within = [case for case, each in zip(cases, scored, strict=True) if each.risk.band is band]
    return BandShare(band.label, len(within) / len(cases), _compute_rates(within, labels))


def _measure_effects(
    scored: Sequence[_ScoredPull], cases: Sequence[Case], measurement: Measurement, rules: Ranking
) -> Iterator[RuleEffect]:
    for rule in sorted({rule for each in scored for rule in each.without}):
        without = measurement.measure_aucs([each.without.get(rule, each.risk.points) for each in scored])
        matching = [case for case, each in zip(cases, scored, strict=True) if rule in each.without]
        gains = {label: rules.aucs[label].compare(without[label]) for label in measurement.labels}
        yield RuleEffect(rule, len(matching), _compute_rates(matching, measurement.labels), gains)


def _compute_rates(cases: Sequence[Case], labels: Sequence[str]) -> dict[str, float]:
    return {
        label: sum(label in case.labels for case in cases) / len(cases) if cases else math.nan for label in labels
    }


def measure_non_product_share(pulls: Sequence[PullRequest], classes: PathClasses) -> NonProductShare:
    """Measure the share of pull requests, whose files are loaded, that touch neither product nor build files."""
    counts: Counter[tuple[str, PathClass]] = Counter()
    silent = 0
    for pull in pulls:
        kinds = {file.path: classes.classify_path(file.path) for file in pull.files or ()}
        if not any(kind in _RATED_CLASSES for kind in kinds.values()):
            silent += 1
            counts.update({(_generalize_path(path, classes), kind) for path, kind in kinds.items()})
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MAX_PLACES]
    places = tuple(PathShare(pattern, kind, count) for (pattern, kind), count in most)
    return NonProductShare(silent / len(pulls) if pulls else 0.0, places)


def _generalize_path(path: str, classes: PathClasses) -> str:
    """Return the highest folder that alone determines the class of the path, else its extension or name."""
    kind, file = classes.classify_path(path), PurePosixPath(path)
    for folder in reversed(file.parents[:-1]):
        # source code elsewhere would be product
        if kind is not PathClass.OTHER and classes.classify_path(f"{folder}/x.py") is kind:
            return f"{folder}/"
    return f"*{file.suffix}" if file.suffix else file.name


def list_caveats(
    history: MergeHistory, window: EvaluationWindow, pulls: Sequence[PullRequest], silent: NonProductShare
) -> Iterator[str]:
    length = max(window.start - history.pulls[0].merge_time, timedelta())
    if length < MIN_HISTORY:
        yield (
            f"There are {format_count(length.days, 'day')} of history before the window. The rules on fixes "
            f"and reverts of files need {MIN_HISTORY.days}."
        )
    young = sum(history.last - pull.merge_time < LABEL_MATURITY for pull in pulls)
    if young:
        yield (
            f"{format_count(young, 'pull request')} merged less than {LABEL_MATURITY.days} days before "
            "the last commit: some of them may still be reverted."
        )
    if silent.share > _MAX_SHARE:
        listing = ", ".join(
            f"{collapse_lines(place.pattern)} ({place.kind}) in {place.pulls:,}" for place in silent.places
        )
        yield (
            f"{silent.share:.0%} of the pull requests touch neither product nor build files; "
            f"{_USUAL_SHARE:.0%} is usual. A path class does not fit this repository: most of them touch "
            f"{listing}."
        )


def judge_ranking(positives: int, auc: Estimate, gain: Estimate) -> Verdict:
    """Judge the lower end of the AUC of the open cases, and its ``gain`` over a list by lines added."""
    if positives < _MIN_POSITIVES or not auc.is_defined:
        return Verdict(
            "too few to tell",
            f"Only {positives} open pull requests were reverted or repaired, and a verdict needs "
            f"{_MIN_POSITIVES}: measure a longer window, and don't rely on the list until then.",
        )
    if auc.low < _USABLE_AUC:
        is_chance = auc.low < _CHANCE_AUC
        chance = "near chance" if is_chance else "barely better than chance"
        return Verdict(
            "no signal" if is_chance else "weak signal",
            f"On this repository the list is {chance}: don't rely on it, and show at most one change of the "
            "highest band a day.",
        )
    if not gain.is_defined or gain.low <= 0 <= gain.high:
        comparison = ", but not clearly better than a list by lines added"
    elif gain.low > 0:
        comparison = " and than a list by lines added"
    else:
        comparison = ", but worse than a list by lines added"
    return Verdict("signal", f"On this repository the list is better than chance{comparison}.")
