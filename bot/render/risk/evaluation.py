"""An evaluation as a table for a terminal, in plain ASCII, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from bot.domain.evaluation.bootstrap import Estimate
from bot.domain.evaluation.models import Evaluation
from bot.domain.text.strings import one_line, plural

_MEANINGS = {
    "R": "taken back by a revert",
    "H": "taken back, or named as the cause by a repair",
    "Y": "taken back, or repaired within two weeks",
}


def table(found: Evaluation) -> str:
    """All of it, the verdict last."""
    parts = [_head(found), _rankings(found), _listed(found), _bands(found), _rules(found), _end(found)]
    return "\n\n".join("\n".join(map(_shown, part)) for part in parts)


def _shown(line: str) -> str:
    """The line as any terminal can show it: names of branches and paths may hold anything."""
    return "".join(char if " " <= char <= "~" else "?" for char in line).rstrip()


def as_json(found: Evaluation) -> str:
    """The same for scripts; what is not defined is null."""
    said = asdict(found) | {"window": _window(found), "scores": len(found.scores)}
    said["verdict"] = {"signal": str(found.verdict.signal), "sentence": found.verdict.sentence}
    return json.dumps(_plain(said), indent=2, default=str, allow_nan=False)


def scores(found: Evaluation) -> str:
    """``pr,score`` of every pull request in the order of the merges; higher is riskier."""
    lines = [f"{score.number},{score.points:.6f}" for score in found.scores]
    return "\n".join(["pr,score", *lines, ""])


def _window(found: Evaluation) -> dict[str, str]:
    window = found.window
    return {"since": str(window.since), "until": str(window.until), "timezone": str(window.zone)}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _head(found: Evaluation) -> Iterator[str]:
    source, window = found.source, found.window
    yield (
        f"{one_line(source.repository)}, branch {one_line(source.branch)}, merged {window.since} to"
        f" {window.until} (UTC), {found.rules}"
    )
    yield (
        f"{plural(found.pulls, 'pull request')}, history from {source.history_from};"
        f" without product and build files: {_percent(found.without_product.share)}"
    )
    for each in found.positives:
        meaning = _MEANINGS.get(each.label, "")
        yield f"{each.label}  {meaning}: {each.all:,}, {each.open:,} of them still open at 09:00 on the next day"
    yield (
        f"Measured on the {found.open:,} that were open then, {plural(found.days, 'day')} in {window.zone};"
        " 'AUC all' on all; [95 % intervals over days]"
    )


def _rankings(found: Evaluation) -> list[str]:
    head = ("", "ranking", "AUC all", "AUC", "average precision", "precision, top 3 a day", "recall, top 3 a day")
    rows = [
        (
            row.label,
            row.ranking,
            _number(row.auc_all),
            _estimate(row.auc),
            _estimate(row.average_precision),
            _estimate(row.precision),
            _estimate(row.recall),
        )
        for label in found.labels
        for row in found.rows
        if row.label == label
    ]
    gains = "; ".join(f"{label} {_signed(each)}" for label, each in found.gains.items())
    return [*_aligned([head, *rows]), f"AUC of the rules less that of lines added: {gains}"]


def _listed(found: Evaluation) -> list[str]:
    least = found.listed[0] if found.listed else None
    if least is None:
        return []
    rows = [(each.label, _estimate(each.precision), _estimate(each.recall)) for each in found.listed]
    title = f"Top 3 of a day, only from {least.least:g} points on: {plural(least.slots, 'place')}"
    return [title, *_aligned([("", "precision", "recall"), *rows])]


def _bands(found: Evaluation) -> list[str]:
    head = ("band", "share", *found.labels)
    rows = [
        (each.band, _percent(each.share), *(_percent(each.rates[label]) for label in found.labels))
        for each in reversed(found.bands)
    ]
    return _aligned([head, *rows, ("all", _percent(1.0), *_base(found))])


def _rules(found: Evaluation) -> list[str]:
    head = ("rule", "fired on", *found.labels, *(f"AUC {label} it adds" for label in found.labels))
    rows = [
        (
            each.rule,
            f"{each.fired:,}",
            *(_percent(each.rates[label]) for label in found.labels),
            *(_signed(each.effect[label]) for label in found.labels),
        )
        for each in found.effects
    ]
    return _aligned([head, *rows, ("all", f"{found.pulls:,}", *_base(found), *("" for _ in found.labels))])


def _end(found: Evaluation) -> Iterator[str]:
    for note in found.notes:
        yield f"Note: {one_line(note)}"
    yield f"Verdict: {found.verdict.signal}. {found.verdict.sentence}"


def _base(found: Evaluation) -> Iterable[str]:
    return (_percent(each.all / found.pulls) for each in found.positives)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _signed(each: Estimate) -> str:
    if math.isnan(each.value):
        return "-"
    return f"{each.value:+.3f}{f' [{each.low:+.3f}, {each.high:+.3f}]' if each.is_known else ''}"


def _estimate(each: Estimate) -> str:
    between = f" [{each.low:.3f}, {each.high:.3f}]" if each.is_known and each.low < each.high else ""
    return f"{_number(each.value)}{between}"


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"
