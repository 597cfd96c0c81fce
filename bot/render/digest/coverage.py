"""The coverage line: which part of the day the digest is based on, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.domain.digest.models import Digest, Entry
from bot.domain.operations.budget import SAVING

_MOST_NAMED = 6


def coverage(digest: Digest) -> str:
    """Format how many of how many were read, from what, and for how much; empty for a day without merges."""
    total, failed = len(digest.entries), len(digest.fallbacks)
    if not total:
        return " · ".join(part for part in (_view(digest), count_difference(digest), *digest.missing) if part)
    trivial = len(digest.trivial)
    cached = sum(entry.from_cache for entry in digest.entries)
    parts = [
        _view(digest),
        f"{total - failed} of {total} read",
        f"{total - trivial} substantial, {trivial} trivial",
        _diffs(digest),
        *_reduced(digest),
        f"{cached} from cache" if cached else "",
        _cost(digest.cost),
        count_difference(digest),
        *digest.missing,
    ]
    return " · ".join(part for part in parts if part)


def _reduced(digest: Digest) -> Iterator[str]:
    """Yield what is shown by its facts alone, and what could not be read."""
    unread = digest.unread
    others = [entry for entry in digest.fallbacks if entry not in unread]
    spared = [entry for entry in others if entry.summary.fallback in SAVING]
    if failed := [entry for entry in others if entry not in spared]:
        yield f"facts only: {_named(failed)}"
    for reason in dict.fromkeys(entry.summary.fallback for entry in spared):
        numbers = _named([entry for entry in spared if entry.summary.fallback == reason])
        yield f"facts only because {reason}: {numbers}"
    if digest.overview.fallback in SAVING:
        yield f"no overview because {digest.overview.fallback}"
    if unread:
        yield f"could not be read: {_named(unread)}"


def count_difference(digest: Digest) -> str:
    """Return what an independent count says if it differs or is missing; empty if the counts agree."""
    return digest.count.doubt(digest.merged)


def _view(digest: Digest) -> str:
    """Return how many pull requests the view shows, and its filters; empty if it shows all."""
    if not (digest.view and digest.merged):
        return ""
    return f"{len(digest.entries)} of {digest.merged:,} shown: {digest.view}"


def _diffs(digest: Digest) -> str:
    """Return which summaries were not written from full diffs."""
    if len(digest.fallbacks) == len(digest.entries):
        return ""
    if not digest.clipped:
        return "all from full diffs"
    return f"not from full diffs: {_named(digest.clipped)}"


def _named(entries: Iterable[Entry]) -> str:
    """Return the first numbers of the entries, and how many more there are."""
    numbers = [f"#{entry.number}" for entry in entries]
    rest = f" and {len(numbers) - _MOST_NAMED} more" if len(numbers) > _MOST_NAMED else ""
    return ", ".join(numbers[:_MOST_NAMED]) + rest


def _cost(cost: float | None) -> str:
    """Format a cost in US dollars; None if it is unknown."""
    if cost is None:
        return "cost unknown"
    if cost == 0:
        return "no model cost"
    return f"${cost:.2f}" if cost >= 0.005 else "under $0.01"
