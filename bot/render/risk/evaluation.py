"""An evaluation as a table for a terminal, in plain ASCII, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from bot.domain.evaluation.bootstrap import Estimate
from bot.domain.evaluation.models import Evaluation
from bot.domain.text.strings import collapse_lines, format_count

_LABEL_MEANINGS = {
    "R": "reverted",
    "H": "reverted, or named as the cause by a repair",
    "Y": "reverted, or repaired within two weeks",
}


def format_table(evaluation: Evaluation) -> str:
    """Format the whole evaluation, the verdict last."""
    parts = [
        _format_head(evaluation),
        _format_rankings(evaluation),
        _format_listed(evaluation),
        _format_bands(evaluation),
        _format_rules(evaluation),
        _format_verdict(evaluation),
    ]
    return "\n\n".join("\n".join(map(replace_non_ascii, part)) for part in parts)


def replace_non_ascii(line: str) -> str:
    """Return the line with a question mark for each sign outside ASCII, as in the names of branches and paths."""
    return "".join(char if " " <= char <= "~" else "?" for char in line).rstrip()


def format_evaluation_json(evaluation: Evaluation) -> str:
    """Format the evaluation for scripts; undefined values are null."""
    values = asdict(evaluation) | {"window": _serialize_window(evaluation), "scores": len(evaluation.scores)}
    values["verdict"] = {"signal": str(evaluation.verdict.signal), "sentence": evaluation.verdict.sentence}
    return json.dumps(replace_undefined(values), indent=2, default=str, allow_nan=False)


def format_scores(evaluation: Evaluation) -> str:
    """Format ``pr,score`` of every pull request in the order of the merges; a higher score is riskier."""
    lines = [f"{score.number},{score.points:.6f}" for score in evaluation.scores]
    return "\n".join(["pr,score", *lines, ""])


def _serialize_window(evaluation: Evaluation) -> dict[str, str]:
    """Return the window as plain values."""
    window = evaluation.window
    return {"since": str(window.since), "until": str(window.until), "timezone": str(window.zone)}


def replace_undefined(value: Any) -> Any:
    """Return the value with None for each number that is not finite."""
    if isinstance(value, dict):
        return {key: replace_undefined(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [replace_undefined(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _format_head(evaluation: Evaluation) -> Iterator[str]:
    """Yield what was measured."""
    source, window = evaluation.source, evaluation.window
    yield (
        f"{collapse_lines(source.repository)}, branch {collapse_lines(source.branch)}, merged {window.since} to"
        f" {window.until} (UTC), {evaluation.rules}"
    )
    yield (
        f"{format_count(evaluation.pulls, 'pull request')}, history from {source.history_from};"
        f" without product and build files: {_format_percent(evaluation.without_product.share)}"
    )
    for each in evaluation.positives:
        meaning = _LABEL_MEANINGS.get(each.label, "")
        yield f"{each.label}  {meaning}: {each.all:,}, {each.open:,} of them still open at 09:00 on the next day"
    yield (
        f"Measured on the {evaluation.open:,} that were open then, {format_count(evaluation.days, 'day')}"
        f" in {window.zone}; 'AUC all' on all; [95% intervals over days]"
    )


def _format_rankings(evaluation: Evaluation) -> list[str]:
    """Return the table of the rankings."""
    head = ("", "ranking", "AUC all", "AUC", "average precision", "precision, top 3 a day", "recall, top 3 a day")
    rows = [
        (
            row.label,
            row.ranking,
            _format_number(row.auc_all),
            _format_estimate(row.auc),
            _format_estimate(row.average_precision),
            _format_estimate(row.precision),
            _format_estimate(row.recall),
        )
        for label in evaluation.labels
        for row in evaluation.rows
        if row.label == label
    ]
    gains = "; ".join(f"{label} {_format_signed(each)}" for label, each in evaluation.gains.items())
    return [*align_columns([head, *rows]), f"AUC of the rules less that of lines added: {gains}"]


def _format_listed(evaluation: Evaluation) -> list[str]:
    """Return the table of the lists with a minimum of points."""
    least = evaluation.listed[0] if evaluation.listed else None
    if least is None:
        return []
    rows = [
        (each.label, _format_estimate(each.precision), _format_estimate(each.recall)) for each in evaluation.listed
    ]
    title = f"Top 3 of a day, only from {least.least:g} points on: {format_count(least.slots, 'place')}"
    return [title, *align_columns([("", "precision", "recall"), *rows])]


def _format_bands(evaluation: Evaluation) -> list[str]:
    """Return the table of the bands."""
    head = ("band", "share", *evaluation.labels)
    rows = [
        (
            each.band,
            _format_percent(each.share),
            *(_format_percent(each.rates[label]) for label in evaluation.labels),
        )
        for each in reversed(evaluation.bands)
    ]
    return align_columns([head, *rows, ("all", _format_percent(1.0), *_format_base_rates(evaluation))])


def _format_rules(evaluation: Evaluation) -> list[str]:
    """Return the table of the rules."""
    head = ("rule", "fired on", *evaluation.labels, *(f"AUC {label} it adds" for label in evaluation.labels))
    rows = [
        (
            each.rule,
            f"{each.fired:,}",
            *(_format_percent(each.rates[label]) for label in evaluation.labels),
            *(_format_signed(each.effect[label]) for label in evaluation.labels),
        )
        for each in evaluation.effects
    ]
    return align_columns(
        [
            head,
            *rows,
            ("all", f"{evaluation.pulls:,}", *_format_base_rates(evaluation), *("" for _ in evaluation.labels)),
        ]
    )


def _format_verdict(evaluation: Evaluation) -> Iterator[str]:
    """Yield the notes and the verdict."""
    for note in evaluation.notes:
        yield f"Note: {collapse_lines(note)}"
    yield f"Verdict: {evaluation.verdict.signal}. {evaluation.verdict.sentence}"


def _format_base_rates(evaluation: Evaluation) -> Iterable[str]:
    """Yield the share of each label among all pull requests."""
    return (_format_percent(each.all / evaluation.pulls) for each in evaluation.positives)


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]


def _format_number(value: float) -> str:
    """Format a number to three places."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def _format_signed(each: Estimate) -> str:
    """Format an estimate with its sign and interval."""
    if math.isnan(each.value):
        return "-"
    return f"{each.value:+.3f}{f' [{each.low:+.3f}, {each.high:+.3f}]' if each.is_defined else ''}"


def _format_estimate(each: Estimate) -> str:
    """Format an estimate with its interval."""
    between = f" [{each.low:.3f}, {each.high:.3f}]" if each.is_defined and each.low < each.high else ""
    return f"{_format_number(each.value)}{between}"


def _format_percent(share: float) -> str:
    """Format a share in percent."""
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"
