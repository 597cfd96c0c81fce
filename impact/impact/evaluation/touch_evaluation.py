"""A replay of the past: upstream merges as judged for a downstream, what was named later, and the figures."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from impact.evaluation.adaptations import TouchTruth
from impact.evaluation.ranking_metrics import Estimate, TouchMeasurement, TouchRanking, compute_rate
from impact.evaluation.window import EvaluationWindow
from impact.touches.models import RankFigures, TouchLevel

RULES, IMPORTED, LINES, CHANCE = "rules", "a changed file is imported", "lines changed", "chance"
# with fewer, the interval of an area under the curve is wider than any difference between two lists
MIN_NAMED = 20


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
class LevelRow:
    """The merges of a level: how many, a day, and which share of them was named."""

    name: str
    merges: int
    a_day: float
    named: Estimate


@dataclass(frozen=True, slots=True)
class KindRow:
    """The named merges of a kind: the shares at level BREAKS, at any level, and with an imported file."""

    kind: str
    merges: int
    breaks: float
    touches: float
    imported: float


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """Of merges at level BREAKS, the share with a changed line; of their lines and of all used ones, the share."""

    hits: Estimate
    hit_lines: Estimate
    all_lines: Estimate


@dataclass(frozen=True, slots=True)
class LeadTime:
    """How early the level BREAKS was for named merges: the median of the days from a merge to the adaptation.

    ``hits`` are those whose adaptation has a date; without any, ``days`` is nan.
    """

    hits: int
    days: float


@dataclass(frozen=True, slots=True)
class TouchEvaluation:
    """A replay with its figures. ``outside`` counts the named merges that the dates don't have."""

    name: str
    upstream: str
    dates: EvaluationWindow
    days: int
    windows: tuple[WindowSummary, ...]
    cases: tuple[TouchCase, ...]
    source: str
    named: int
    outside: int
    rankings: tuple[TouchRanking, ...]
    levels: tuple[LevelRow, ...]
    kinds: tuple[KindRow, ...]
    changed: ChangedLines
    lead: LeadTime
    auc_gain: Estimate
    precision_gain: Estimate

    @property
    def verdict(self) -> str:
        """A sentence that says whether the rules are better than the file baseline."""
        return judge_gain(self.named, self.auc_gain, self.precision_gain)

    @property
    def judges(self) -> str:
        """Who judged, for a person."""
        alone = [window.alone for window in self.windows if window.alone]
        if not alone:
            return "A type checker judged beside the rules."
        share = f" in {len(alone):,} of {len(self.windows):,} windows" if len(alone) < len(self.windows) else ""
        return f"The rules judged alone{share}: {alone[0]}."


def evaluate_cases(
    name: str,
    upstream: str,
    dates: EvaluationWindow,
    windows: Sequence[WindowSummary],
    cases: Sequence[TouchCase],
    truth: TouchTruth,
) -> TouchEvaluation:
    named = [case.number in truth.kinds for case in cases]
    measurement = TouchMeasurement([case.window for case in cases], named)
    orders: dict[str, Callable[[TouchCase], float]] = {
        RULES: lambda case: case.score,
        IMPORTED: lambda case: case.imported,
        LINES: lambda case: case.lines,
        CHANCE: lambda _: 0,
    }
    rankings = tuple(
        measurement.measure_ranking(each, [rank(case) for case in cases]) for each, rank in orders.items()
    )
    days = (dates.until - dates.since).days + 1
    return TouchEvaluation(
        name,
        upstream,
        dates,
        days,
        tuple(windows),
        tuple(cases),
        truth.source,
        sum(named),
        len(truth.kinds) - sum(named),
        rankings,
        tuple(_list_levels(cases, truth, measurement, len(windows), days)),
        tuple(_list_kinds(cases, truth)),
        _measure_lines(cases, windows, measurement),
        _measure_lead(cases, truth),
        measurement.compare_rankings(RULES, IMPORTED, "auc"),
        measurement.compare_rankings(RULES, IMPORTED, "mean_precision"),
    )


def _list_levels(
    cases: Sequence[TouchCase], truth: TouchTruth, measurement: TouchMeasurement, windows: int, days: int
) -> Iterator[LevelRow]:
    tests: dict[str, Callable[[TouchCase], bool]] = {
        "breaks": lambda case: case.level is TouchLevel.BREAKS,
        "touches": lambda case: TouchLevel.NO < case.level < TouchLevel.BREAKS,
        "no": lambda case: case.level is TouchLevel.NO,
        IMPORTED: lambda case: case.imported > 0,
        "all": lambda _: True,
    }
    for name, test in tests.items():
        merges = [case for case in cases if test(case)]
        counts = ((case.window, case.number in truth.kinds, 1) for case in merges)
        yield LevelRow(name, len(merges), len(merges) / days, _estimate_share(measurement, windows, counts))


def _estimate_share(
    measurement: TouchMeasurement, windows: int, counts: Iterable[tuple[int, float, float]]
) -> Estimate:
    """Return the share of the parts in the wholes of some cases: their windows, with both."""
    parts, wholes = [0.0] * windows, [0.0] * windows
    for window, part, whole in counts:
        parts[window] += part
        wholes[window] += whole
    return measurement.estimate_share(parts, wholes)


def _list_kinds(cases: Sequence[TouchCase], truth: TouchTruth) -> Iterator[KindRow]:
    named = [(case, truth.kinds[case.number]) for case in cases if case.number in truth.kinds]
    all_kinds = frozenset[str]().union(*(kinds for _, kinds in named))
    groups = {kind: frozenset({kind}) for kind in sorted(all_kinds)}
    if all_kinds:
        groups |= {"structural": STRUCTURAL_KINDS, "other kinds": all_kinds - STRUCTURAL_KINDS}
    rows = {name: [case for case, kinds in named if kinds & group] for name, group in groups.items()}
    for name, group in (rows | {"all": [case for case, _ in named]}).items():
        breaks = sum(case.level is TouchLevel.BREAKS for case in group)
        touches = sum(case.level is not TouchLevel.NO for case in group)
        imported = sum(case.imported > 0 for case in group)
        yield KindRow(name, len(group), *(compute_rate(each, len(group)) for each in (breaks, touches, imported)))


def _measure_lines(
    cases: Sequence[TouchCase], windows: Sequence[WindowSummary], measurement: TouchMeasurement
) -> ChangedLines:
    hits = [case for case in cases if case.hit_lines]
    return ChangedLines(
        _estimate_share(measurement, len(windows), ((case.window, case.changed_lines > 0, 1) for case in hits)),
        _estimate_share(
            measurement, len(windows), ((case.window, case.changed_lines, case.hit_lines) for case in hits)
        ),
        measurement.estimate_share(
            [each.changed_lines for each in windows], [each.used_lines for each in windows]
        ),
    )


def _measure_lead(cases: Sequence[TouchCase], truth: TouchTruth) -> LeadTime:
    days = [
        (truth.adapted[case.number] - case.day).days
        for case in cases
        if case.level is TouchLevel.BREAKS and case.number in truth.adapted
    ]
    return LeadTime(len(days), median(days) if days else float("nan"))


def judge_gain(named: int, auc_gain: Estimate, precision_gain: Estimate) -> str:
    """Return whether the rules order merges better than the number of imported files that they change."""
    if named < MIN_NAMED:
        return f"Only {named} of the merges were named later, and a verdict needs {MIN_NAMED}: choose more dates."
    gains = {"AUC": auc_gain, "mean average precision": precision_gain}
    better = [name for name, gain in gains.items() if gain.is_defined and gain.low > 0]
    worse = [name for name, gain in gains.items() if gain.is_defined and gain.high < 0]
    other, by = "the list of merges that change an imported file", " and ".join(worse or better)
    if worse:
        but = f" ({better[0]} is better)" if better else ""
        return f"The rules are worse than {other}, by {by}{but}: don't rely on them for this downstream."
    if not better:
        return f"The rules are neither clearly better than {other} nor worse: choose more dates."
    rest = [f"; by {name}, the difference is within chance" for name in gains if name not in better]
    return f"The rules are better than {other}{f', by {by}' if rest else ''}{''.join(rest)}."
