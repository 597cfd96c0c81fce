"""The coverage line: which part of the day the digest is based on, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.domain.digest.models import Digest, Entry
from bot.domain.operations.budget import BUDGET_REASONS

_MAX_NUMBERS = 6


def format_coverage(digest: Digest) -> str:
    """Format how many of how many were read, from what, and for how much; empty for a day without merges."""
    total, failed = len(digest.entries), len(digest.fallback_entries)
    if not total:
        return " · ".join(
            part for part in (_describe_view(digest), describe_count_difference(digest), *digest.missing) if part
        )
    trivial = len(digest.trivial_entries)
    cached = sum(entry.from_cache for entry in digest.entries)
    parts = [
        _describe_view(digest),
        f"{total - failed} of {total} read",
        f"{total - trivial} substantial, {trivial} trivial",
        _describe_diffs(digest),
        *_describe_reduced(digest),
        f"{cached} from cache" if cached else "",
        _format_cost(digest.cost),
        describe_count_difference(digest),
        *digest.missing,
    ]
    return " · ".join(part for part in parts if part)


def _describe_reduced(digest: Digest) -> Iterator[str]:
    """Yield what is shown by its facts alone, and what could not be read."""
    unread = digest.unreadable_entries
    others = [entry for entry in digest.fallback_entries if entry not in unread]
    spared = [entry for entry in others if entry.summary.fallback in BUDGET_REASONS]
    if failed := [entry for entry in others if entry not in spared]:
        yield f"facts only: {_list_numbers(failed)}"
    for reason in dict.fromkeys(entry.summary.fallback for entry in spared):
        numbers = _list_numbers([entry for entry in spared if entry.summary.fallback == reason])
        yield f"facts only because {reason}: {numbers}"
    if digest.overview.fallback in BUDGET_REASONS:
        yield f"no overview because {digest.overview.fallback}"
    if unread:
        yield f"could not be read: {_list_numbers(unread)}"


def describe_count_difference(digest: Digest) -> str:
    """Return what an independent count says if it differs or is missing; empty if the counts agree."""
    return digest.count.describe_caveats(digest.merged_count)


def _describe_view(digest: Digest) -> str:
    """Return how many pull requests the view shows, and its filters; empty if it shows all."""
    if not (digest.view and digest.merged_count):
        return ""
    return f"{len(digest.entries)} of {digest.merged_count:,} shown: {digest.view}"


def _describe_diffs(digest: Digest) -> str:
    """Return which summaries were not written from full diffs."""
    if len(digest.fallback_entries) == len(digest.entries):
        return ""
    if not digest.clipped_entries:
        return "all from full diffs"
    return f"not from full diffs: {_list_numbers(digest.clipped_entries)}"


def _list_numbers(entries: Iterable[Entry]) -> str:
    """Return the first numbers of the entries, and how many more there are."""
    numbers = [f"#{entry.number}" for entry in entries]
    rest = f" and {len(numbers) - _MAX_NUMBERS} more" if len(numbers) > _MAX_NUMBERS else ""
    return ", ".join(numbers[:_MAX_NUMBERS]) + rest


def _format_cost(cost: float | None) -> str:
    """Format a cost in US dollars; None if it is unknown."""
    if cost is None:
        return "cost unknown"
    if cost == 0:
        return "no model cost"
    return f"${cost:.2f}" if cost >= 0.005 else "under $0.01"
