"""Contract changes, deprecations, suspects and replays of the past in a terminal, as JSON, and as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from itertools import groupby

from bot.features.profiles.view import align_columns, replace_non_ascii
from bot.features.touches.lines import describe_deadline, describe_first_use
from bot.features.touches.view import (
    NO_DEPRECATIONS,
    StatedDeprecation,
    count_suspects,
    describe_error_line,
    describe_no_suspect,
    format_points,
    give_advice,
    name_suspect,
    sort_deprecations,
)
from bot.redaction import redact_document, redact_text
from bot.text import format_count
from impact.contract.table import ContractTableRow
from impact.coverage import CoveredList
from impact.evaluation.ranking_metrics import Estimate
from impact.evaluation.touch_evaluation import TouchEvaluation
from impact.text.strings import collapse_lines, escape_invisible, remove_invisible, truncate_text
from impact.touches.breakage.suspects import Suspect, SuspectReport
from impact.touches.models import TouchLevel

# what spreadsheets take for a formula
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t")
_LEVELS = {
    TouchLevel.BREAKS: "breaks",
    TouchLevel.STOPS_SILENTLY: "touches",
    TouchLevel.MAY_BREAK: "touches",
    TouchLevel.TOUCHES: "touches",
    TouchLevel.NO: "no",
}


def format_json(document: object) -> str:
    """Format a document of ``impact`` without credentials, and with nothing that turns a line around."""
    values = redact_document(json.loads(json.dumps(document, default=str, allow_nan=False)))
    return escape_invisible(json.dumps(values, ensure_ascii=False, indent=2))


# --- contract changes


def format_contract_table(rows: CoveredList[ContractTableRow], merges: int) -> str:
    def show(rows: Sequence[ContractTableRow]) -> Iterator[str]:
        for _, group in groupby(rows, key=lambda row: row.change.subject):
            yield "\n".join(_format_class([*group]))
        changing = len({row.number for row in rows})
        yield f"{format_count(len(rows), 'change')} in {changing:,} of {format_count(merges, 'merge')}"

    nothing = f"None of {format_count(merges, 'merge')} changes what others depend on."
    return "\n\n".join(rows.render(_clean, show, nothing))


def _format_class(rows: Sequence[ContractTableRow]) -> Iterator[str]:
    def clean(text: str) -> str:
        return truncate_text(redact_text(collapse_lines(text)), 90)

    yield f"{rows[0].change.subject} ({len(rows):,})".upper()
    for row in rows:
        change = row.change
        yield f"  {change.kind}: {clean(change.name)}  #{row.number}  {clean(change.path)}:{change.line}"
        # the lines before and after, as far as they say more than the name
        if change.new_name:
            yield f"      -> {clean(change.new_name)}"
            continue
        if change.before:
            yield f"      - {clean(change.before)}"
        if change.after:
            yield f"      + {clean(change.after)}"


def format_deprecations(entries: CoveredList[StatedDeprecation]) -> str:
    def show(entries: Sequence[StatedDeprecation]) -> Iterator[str]:
        for state, used in entries:
            entry = used.entry
            when, place = describe_deadline(entry), describe_first_use(used)
            parts = (f"{state:9}", entry.name, when, f"#{entry.number}", place)
            yield collapse_lines("  ".join(part for part in parts if part))

    return "\n".join(entries.derive(sort_deprecations).render(_clean, show, NO_DEPRECATIONS))


def _clean(sentence: str) -> str:
    return redact_text(remove_invisible(sentence))


# --- suspects


def format_suspects(report: SuspectReport) -> str:

    def show(suspects: Sequence[str]) -> Iterator[str]:
        yield count_suspects(report, len(suspects))
        yield from (f"{place}. {each}" for place, each in enumerate(suspects, 1))

    error = describe_error_line(report)
    suspects = report.suspects.derive_each("merges", name_suspect, lambda each: (_format_suspect(each),))
    first, *rest = suspects.render(str, show, describe_no_suspect(report))
    parts = (first, f"Looked for: {error}" if error else "", *rest, give_advice(report))
    return redact_text(remove_invisible("\n\n".join(part for part in parts if part)))


def _format_suspect(suspect: Suspect) -> str:
    def clean(text: str, limit: int = 160) -> str:
        return truncate_text(collapse_lines(text), limit)

    lines = [
        f"{name_suspect(suspect)} {clean(suspect.title)}",
        f"   {suspect.commit[:10]} · {suspect.merged_at:%Y-%m-%d} · {format_points(suspect)}",
        f"   {clean(f'It {suspect.reason}.', 300)}",
    ]
    if change := suspect.change:
        lines.append(f"   {clean(change.path)}:{change.line}")
        lines += [f"   - {clean(change.before)}"] if change.before else []
        lines += [f"   + {clean(change.after)}"] if change.after else []
    return "\n".join(lines)


# --- a replay of the past


def format_touch_cases(evaluation: TouchEvaluation) -> str:
    """Format every merge with what ranks it, oldest first."""

    def quote_cell(text: str) -> str:
        line = collapse_lines(truncate_text(redact_text(text), 200))
        return f"'{line}" if line.startswith(_FORMULA_SIGNS) else line

    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    head = "pr date window level score breaks may_break names uses changes change use"
    writer.writerow(head.split())
    for case in sorted(evaluation.cases, key=lambda case: (case.day, case.number)):
        texts = (quote_cell(case.change), quote_cell(case.use))
        rank = (f"{case.score:.6f}", *map(int, astuple(case.figures)))
        writer.writerow((case.number, case.day, case.window, _LEVELS[case.level], *rank, *texts))
    return output.getvalue()


def format_touch_table(evaluation: TouchEvaluation) -> str:
    parts = (
        _format_head(evaluation),
        _format_rankings(evaluation),
        _format_levels(evaluation),
        _format_kinds(evaluation),
        (f"Verdict: {evaluation.verdict}", evaluation.judges),
    )
    return "\n\n".join("\n".join(map(replace_non_ascii, part)) for part in parts)


def _format_head(evaluation: TouchEvaluation) -> Iterator[str]:
    dates, windows = evaluation.dates, evaluation.windows
    uses = [window.uses for window in windows]
    yield (
        f"{collapse_lines(evaluation.name)} on {collapse_lines(evaluation.upstream)}, merged {dates.since} to "
        f"{dates.until} (UTC)"
    )
    yield (
        f"{format_count(len(evaluation.cases), 'merge')} in {format_count(len(windows), 'window')}, each judged "
        f"by the downstream tree before it; {min(uses, default=0):,} to "
        f"{format_count(max(uses, default=0), 'use')} in a tree"
    )
    outside = f"; {evaluation.outside:,} others were not merged in these dates" if evaluation.outside else ""
    yield f"{format_count(evaluation.named, 'merge')} named as causes by {evaluation.source}{outside}"
    yield "[95% intervals over windows]"


def _format_rankings(evaluation: TouchEvaluation) -> Iterator[str]:
    head = ("order by", "AUC", "AUC within", "mean average precision", "top tenth", "top tenth within")
    rows = [
        (row.name, *map(_format_estimate, (row.auc, row.auc_within, row.mean_precision, row.top, row.top_within)))
        for row in evaluation.rankings
    ]
    yield from align_columns([head, *rows])
    yield "AUC, top tenth: over all merges. Within: of each window. Top tenth: share of the named merges in it."
    yield (
        f"Rules less imported files: AUC {_format_estimate(evaluation.auc_gain, '+')}; mean average precision "
        f"{_format_estimate(evaluation.precision_gain, '+')}"
    )


def _format_levels(evaluation: TouchEvaluation) -> Iterator[str]:
    rows = [
        (row.name, f"{row.merges:,}", f"{row.a_day:.2f}", _format_estimate(row.named)) for row in evaluation.levels
    ]
    yield from align_columns([("level", "merges", "a day", "named"), *rows])
    changed, lead = evaluation.changed, evaluation.lead
    yield (
        f"Downstream lines changed later: in {_format_estimate(changed.hits)} of the breaks; of their lines "
        f"{_format_estimate(changed.hit_lines)}, of all used lines {_format_estimate(changed.all_lines)}"
    )
    if lead.hits:
        yield (
            f"Breaks that were named came {lead.days:g} days before the downstream adapted (median of {lead.hits})"
        )


def _format_kinds(evaluation: TouchEvaluation) -> list[str]:
    def format_share(share: float) -> str:
        return "-" if math.isnan(share) else f"{100 * share:.0f}%"

    rows = [
        (row.kind, f"{row.merges:,}", *map(format_share, (row.breaks, row.touches, row.imported)))
        for row in evaluation.kinds
    ]
    return align_columns([("named merges", "", "breaks", "breaks or touches", "imported"), *rows])


def _format_estimate(each: Estimate, sign: str = "") -> str:
    if math.isnan(each.value):
        return "-"
    is_wide = each.is_defined and each.low < each.high
    interval = f" [{each.low:{sign}.3f}, {each.high:{sign}.3f}]" if is_wide else ""
    return f"{each.value:{sign}.3f}{interval}"
