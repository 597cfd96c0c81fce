"""The figures of a reading of matched pairs for a terminal, in plain ASCII, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from bot.domain.evaluation.pairs import PairChoice, PairRule
from bot.domain.evaluation.readings import ReadingEvaluation, ReadPair, RightCount
from bot.domain.text.strings import format_count
from bot.domain.track_record.statistics import compute_wilson_interval
from bot.render.risk.evaluation import align_columns, replace_non_ascii, replace_undefined

# problems that are named one by one
_MAX_PROBLEMS = 10


def format_reading(result: ReadingEvaluation, rule: PairRule, eligible: int) -> str:
    """Format the figures. ``eligible`` is the number of repaired merges that could have been in a pair."""
    lines = [
        *_format_head(result, rule, eligible),
        "",
        *align_columns([("", "right", "95 % interval", "ties", "AUC"), *_list_rows(result)]),
        "",
        *_format_foot(result),
    ]
    return "\n".join(map(replace_non_ascii, lines))


def format_reading_json(
    result: ReadingEvaluation, rule: PairRule, pairs: Sequence[ReadPair], eligible: int
) -> str:
    """Format the figures and each pair for scripts; undefined values are null."""
    values = asdict(result) | {
        "eligible": eligible,
        "seed": rule.seed,
        "pairs": [_describe_pair(pair) for pair in pairs],
    }
    return json.dumps(replace_undefined(values), indent=2, default=str, allow_nan=False)


def explain_few_pairs(choice: PairChoice, rule: PairRule) -> str:
    """Return a note if there are fewer pairs than asked for; empty if not."""
    if len(choice.pairs) >= rule.count:
        return ""
    return (
        f"Note: {format_count(len(choice.pairs), 'pair')} in place of {rule.count}:"
        f" {format_count(choice.eligible, 'repaired merge')} of these dates may be in one, if another is like it."
    )


def _format_head(result: ReadingEvaluation, rule: PairRule, eligible: int) -> Iterator[str]:
    """Yield what was read."""
    yield (
        f"{format_count(result.chosen, 'pair')} of a merge that was reverted or repaired within"
        f" {rule.span.days} days and one like it; {eligible} such merges, seed {rule.seed}"
    )
    yield f"{format_count(result.reading.pairs, 'pair')} read, each merge by itself; chance is 50 %"


def _list_rows(result: ReadingEvaluation) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table."""
    yield _format_row("reading", result.reading)
    yield _format_row("  not recognised", result.unrecognised)
    yield _format_row("  recognised", result.recognised)
    yield _format_row("rules", result.rules)
    yield _format_row("rules and reading", result.together)


def _format_row(name: str, count: RightCount) -> tuple[str, ...]:
    """Return the cells of a count."""
    if not count.pairs:
        return name, "0 of 0", "-", "-", "-"
    low, high = compute_wilson_interval(count.right, count.pairs)
    return (
        name,
        f"{count.right:g} of {count.pairs}, {100 * count.share:.0f} %",
        f"[{100 * low:.0f} %, {100 * high:.0f} %]",
        str(count.ties),
        f"{count.auc:.3f}",
    )


def _format_foot(result: ReadingEvaluation) -> Iterator[str]:
    """Yield the findings, the cost and the problems."""
    yield f"Confirmed findings: {result.confirmed}, {result.quoted} of them with a quote that code found"
    yield f"Cost of this run: {'unknown' if result.cost is None else f'${result.cost:.2f}'}"
    if result.problems:
        yield f"Not read: {format_count(len(result.problems), 'merge')}; a pair counts only if both are read"
    for number, problem in result.problems[:_MAX_PROBLEMS]:
        yield f"  #{number}: {problem}"
    if len(result.problems) > _MAX_PROBLEMS:
        yield f"  and {len(result.problems) - _MAX_PROBLEMS} more"


def _describe_pair(pair: ReadPair) -> dict[str, object]:
    """Return a pair as plain values."""
    return {
        "repaired": pair.pair.repaired.number,
        "other": pair.pair.other.number,
        "readings": {str(number): asdict(reading) for number, reading in pair.readings},
        "points": [pair.repaired_risk.points, pair.other_risk.points],
    }
