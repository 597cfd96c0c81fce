"""Merges for tests: every field has a sensible default, a test names only what it is about."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from impact.history.merges import ClonedMerge
from impact.repository import Repository

REPOSITORY = Repository("octo", "engine")
NOON = datetime(2026, 2, 28, 20, 0, tzinfo=UTC)


def pull(number: int = 1, **fields: Any) -> ClonedMerge:
    """A merge; ``merged_at`` is the time of the merge."""
    made = ClonedMerge(
        repository=REPOSITORY,
        number=number,
        title=f"Change number {number}",
        commit_message="",
        merge_commit=f"{number:040x}",
        merge_time=fields.pop("merged_at", NOON - timedelta(minutes=number % 600)),
    )
    return replace(made, **fields)
