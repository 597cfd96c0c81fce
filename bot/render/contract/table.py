"""Contract changes of many merges as a table for a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import quote

from bot.domain.pull_requests.diff import DiffSide
from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines, format_count, truncate_text
from impact.contract.models import ChangeKind, ContractChange, ContractClass

# characters of a line before or after in the table; JSON has all of it
_MAX_SIDE = 90
_CLASS_ORDER = {subject: place for place, subject in enumerate(ContractClass)}
_KIND_ORDER = {kind: place for place, kind in enumerate(ChangeKind)}


@dataclass(frozen=True, slots=True)
class ContractTableRow:
    """A change, the merge that it is from, and the address of its line, empty if there is none."""

    number: int
    change: ContractChange
    url: str = ""


def build_line_url(web: str, repository: str, commits: tuple[str, str], change: ContractChange) -> str:
    """Return the address of a change's line. ``commits`` are the one before the merge, and the merge."""
    commit = commits[change.side is DiffSide.NEW]
    return f"{web}/{repository}/blob/{commit}/{quote(change.path)}#L{change.line}"


def select_rows(rows: Iterable[ContractTableRow]) -> list[ContractTableRow]:
    """Return the rows of a table: by class, what was removed first; without what is the same from outside."""
    return sorted((row for row in rows if row.change.kind is not ChangeKind.BEHAVIOUR), key=_get_order)


def format_contract_json(rows: Iterable[ContractTableRow]) -> str:
    """Format rows as a JSON list of objects."""
    return json.dumps([_serialize_row(row) for row in rows], indent=2, ensure_ascii=False)


def format_contract_table(rows: Sequence[ContractTableRow], merges: int) -> str:
    """Format rows for a terminal, by class."""
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row.change.subject)]
    parts = ["\n".join(_format_class(group)) for group in groups]
    changing = len({row.number for row in rows})
    total = f"{format_count(len(rows), 'change')} in {changing:,} of {format_count(merges, 'merge')}"
    return "\n\n".join([*parts, total])


def _get_order(row: ContractTableRow) -> tuple[int, int, str, int]:
    change = row.change
    return _CLASS_ORDER[change.subject], _KIND_ORDER[change.kind], change.name, row.number


def _serialize_row(row: ContractTableRow) -> dict[str, object]:
    change = row.change
    return {
        "pr": row.number,
        "class": str(change.subject),
        "kind": str(change.kind),
        "name": redact_text(change.name),
        "before": redact_text(change.before),
        "after": redact_text(change.after or change.new_name),
        "path": change.path,
        "line": change.line,
        "url": row.url,
    }


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
