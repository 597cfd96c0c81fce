"""Contract changes of many merges as a table for a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from impact.contract.models import ContractChange
from impact.contract.table import ContractTableRow
from impact.documents import describe_rows

# characters of a line before or after in the table; JSON has all of it
_MAX_SIDE = 90


def format_contract_json(rows: Iterable[ContractTableRow]) -> str:
    """Format rows as a JSON list of objects."""
    return json.dumps(describe_rows(map(_redact_row, rows)), indent=2, ensure_ascii=False)


def format_contract_table(rows: Sequence[ContractTableRow], merges: int) -> str:
    """Format rows for a terminal, by class."""
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row.change.subject)]
    parts = ["\n".join(_format_class(group)) for group in groups]
    changing = len({row.number for row in rows})
    total = f"{format_count(len(rows), 'change')} in {changing:,} of {format_count(merges, 'merge')}"
    return "\n\n".join([*parts, total])


def _redact_row(row: ContractTableRow) -> ContractTableRow:
    change = row.change
    cleaned = replace(
        change,
        name=redact_text(change.name),
        before=redact_text(change.before),
        after=redact_text(change.after),
        new_name=redact_text(change.new_name),
    )
    return replace(row, change=cleaned)


def _format_class(rows: Sequence[ContractTableRow]) -> Iterator[str]:
    yield f"{rows[0].change.subject} ({len(rows):,})".upper()
    for row in rows:
        change = row.change
        yield f"  {change.kind}: {_clean(change.name)}  #{row.number}  {_clean(change.path)}:{change.line}"
        yield from (f"      {line}" for line in _list_sides(change))


def _list_sides(change: ContractChange) -> Iterator[str]:
    """Yield the lines before and after, as far as they say more than the name."""
    if change.new_name:
        yield f"-> {_clean(change.new_name)}"
    elif change.before:
        yield f"- {_clean(change.before)}"
    if change.after and not change.new_name:
        yield f"+ {_clean(change.after)}"


def _clean(text: str) -> str:
    return truncate_text(redact_text(collapse_lines(text)), _MAX_SIDE)
