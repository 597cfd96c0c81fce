"""A replay of the past as a table for a terminal, as JSON, and as a CSV of its merges."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator

from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from bot.render.plain_table import align_columns, replace_non_ascii
from impact.documents import describe_evaluation
from impact.evaluation.bootstrap import Estimate
from impact.evaluation.touch_evaluation import TouchEvaluation
from impact.touches.models import TouchLevel

_LEVELS = {
    TouchLevel.BREAKS: "breaks",
    TouchLevel.MAY_BREAK: "touches",
    TouchLevel.TOUCHES: "touches",
    TouchLevel.NO: "no",
}
# what spreadsheets take for a formula
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t")
# characters of a change or a use
_MAX_TEXT = 200


def format_touch_cases(evaluation: TouchEvaluation) -> str:
    """Format every merge as ``pr,level,score,change,use``, oldest first."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(("pr", "level", "score", "change", "use"))
    for case in sorted(evaluation.cases, key=lambda case: (case.day, case.number)):
        writer.writerow(
            (
                case.number,
                _LEVELS[case.level],
                f"{case.score:.6f}",
                _quote_cell(case.change),
                _quote_cell(case.use),
            )
        )
    return output.getvalue()


def _quote_cell(text: str) -> str:
    line = collapse_lines(truncate_text(redact_text(text), _MAX_TEXT))
    return f"'{line}" if line.startswith(_FORMULA_SIGNS) else line


def format_touch_json(evaluation: TouchEvaluation) -> str:
    """Format the figures for scripts; undefined values are null."""
    return json.dumps(describe_evaluation(evaluation), indent=2, default=str, allow_nan=False)


def format_touch_table(evaluation: TouchEvaluation) -> str:
    """Format all figures, the verdict last."""
    parts = (
        _format_head(evaluation),
        _format_rankings(evaluation),
        _format_levels(evaluation),
        _format_kinds(evaluation),
        (f"Verdict: {evaluation.verdict}",),
    )
    return "\n\n".join("\n".join(map(replace_non_ascii, part)) for part in parts)


def _format_head(evaluation: TouchEvaluation) -> Iterator[str]:
    dates, windows = evaluation.dates, evaluation.windows
    yield (
        f"{collapse_lines(evaluation.name)} on {collapse_lines(evaluation.upstream)}, merged {dates.since} to "
        f"{dates.until} (UTC)"
    )
    yield (
        f"{format_count(len(evaluation.cases), 'merge')} in {format_count(len(windows), 'window')}, each judged "
        f"by the downstream tree before it; {_format_uses(evaluation)}"
    )
    outside = f"; {evaluation.outside:,} others were not merged in these dates" if evaluation.outside else ""
    yield f"{format_count(evaluation.named, 'merge')} named as causes by {evaluation.source}{outside}"
    yield "[95% intervals over windows]"


def _format_uses(evaluation: TouchEvaluation) -> str:
    counts = [window.uses for window in evaluation.windows]
    return f"{min(counts, default=0):,} to {format_count(max(counts, default=0), 'use')} in a tree"


def _format_rankings(evaluation: TouchEvaluation) -> Iterator[str]:
    head = ("order by", "AUC", "AUC within", "mean average precision", "top tenth", "top tenth within")
    rows = [
        (
            row.name,
            *map(_format_estimate, (row.auc, row.auc_within, row.mean_precision, row.top, row.top_within)),
        )
        for row in evaluation.rankings
    ]
    yield from align_columns([head, *rows])
    yield "AUC, top tenth: over all merges. Within: of each window. Top tenth: share of the named merges in it."
    yield (
        f"Rules less imported files: AUC {_format_signed(evaluation.auc_gain)}; mean average precision "
        f"{_format_signed(evaluation.precision_gain)}"
    )


def _format_levels(evaluation: TouchEvaluation) -> Iterator[str]:
    head = ("level", "merges", "a day", "named")
    rows = [
        (row.name, f"{row.merges:,}", f"{row.a_day:.2f}", _format_estimate(row.named)) for row in evaluation.levels
    ]
    yield from align_columns([head, *rows])
    changed = evaluation.changed
    yield (
        f"Downstream lines changed later: in {_format_estimate(changed.hits)} of the breaks; of their lines "
        f"{_format_estimate(changed.hit_lines)}, of all used lines {_format_estimate(changed.all_lines)}"
    )
    if evaluation.lead.hits:
        yield (
            f"Breaks that were named came {evaluation.lead.days:g} days before the downstream adapted (median of "
            f"{evaluation.lead.hits})"
        )


def _format_kinds(evaluation: TouchEvaluation) -> list[str]:
    head = ("named merges", "", "breaks", "breaks or touches", "imported")
    rows = [
        (row.kind, f"{row.merges:,}", *map(_format_percent, (row.breaks, row.touches, row.imported)))
        for row in evaluation.kinds
    ]
    return align_columns([head, *rows])


def _format_percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.0f}%"


def _format_signed(each: Estimate) -> str:
    return "-" if math.isnan(each.value) else f"{each.value:+.3f}{_format_interval(each, '+')}"


def _format_estimate(each: Estimate) -> str:
    return "-" if math.isnan(each.value) else f"{each.value:.3f}{_format_interval(each)}"


def _format_interval(each: Estimate, sign: str = "") -> str:
    is_wide = each.is_defined and each.low < each.high
    return f" [{each.low:{sign}.3f}, {each.high:{sign}.3f}]" if is_wide else ""
