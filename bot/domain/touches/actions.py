"""One line on what to do about a touch, from how the same merge changed upstream's own callers."""

from __future__ import annotations

from bot.domain.contract.models import ChangeKind, ContractChange, MergeContract, Migration
from bot.domain.text.strings import truncate_text

_MAX_LINE = 100


def describe_action(change: ContractChange, contract: MergeContract) -> str:
    """Return what to do, empty where nothing is known."""
    migrations = contract.migrations.get(change.name, ())
    if migrations:
        return _describe_migration(migrations[0])
    if change.new_name:
        return f"use `{change.new_name}`"
    if change.kind is ChangeKind.ABSTRACT_MEMBER:
        return f"define `{change.name.rpartition('.')[2]}`"
    if change.deadline and change.deadline.replacement:
        return f"use `{change.deadline.replacement}`"
    return ""


def _describe_migration(migration: Migration) -> str:
    before, after = (truncate_text(text.strip(), _MAX_LINE) for text in (migration.before, migration.after))
    return f"upstream changed its own `{before}` to `{after}`" if after else f"upstream dropped its own `{before}`"
