"""One line on what to do about a touch, from how the same merge changed upstream's own callers."""

from __future__ import annotations

from itertools import takewhile

from impact.contract.models import ContractChange, MergeContract, Migration
from impact.text.strings import truncate_text

# characters of a line, and of those before what differs
_MAX_LINE, _CONTEXT = 100, 30


def describe_action(change: ContractChange, contract: MergeContract) -> str:
    """Return what to do, empty where nothing is known."""
    migrations = contract.migrations.get(change.name, ())
    if migrations:
        return _describe_migration(migrations[0])
    if change.new_name:
        return f"use `{change.new_name}`"
    if change.deadline and change.deadline.replacement:
        return f"use `{change.deadline.replacement}`"
    return ""


def _describe_migration(migration: Migration) -> str:
    if not migration.after:
        return f"upstream deleted its own call `{truncate_text(migration.before.strip(), _MAX_LINE)}`"
    before, after = _cut_lines(migration.before.strip(), migration.after.strip())
    return f"upstream changed its own `{before}` to `{after}`"


def _cut_lines(before: str, after: str) -> tuple[str, str]:
    """Return two lines cut to what differs, so that they never look the same."""
    if max(len(before), len(after)) <= _MAX_LINE:
        return before, after
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    start = max(0, same - _CONTEXT)
    mark = "…" if start else ""
    return (
        truncate_text(f"{mark}{before[start:]}", _MAX_LINE),
        truncate_text(f"{mark}{after[start:]}", _MAX_LINE),
    )
