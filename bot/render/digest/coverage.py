"""The coverage line: which part of the day the digest is based on, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.domain.digest.models import Digest, Entry
from bot.domain.summaries.fallback import describe_fallback, is_for_budget
from bot.render.digest import sentences

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
        sentences.format_read(read=total - failed, total=total),
        sentences.format_substantial(substantial=total - trivial, trivial=trivial),
        _describe_diffs(digest),
        *_describe_reduced(digest),
        sentences.format_reviewed(digest.review_coverage) if digest.review_coverage.eligible else "",
        sentences.format_cached(cached) if cached else "",
        sentences.format_cost(digest.cost),
        describe_count_difference(digest),
        *digest.missing,
    ]
    return " · ".join(part for part in parts if part)


def _describe_reduced(digest: Digest) -> Iterator[str]:
    """Yield what is shown by its facts alone, and what could not be read."""
    unread = digest.unreadable_entries
    others = [entry for entry in digest.fallback_entries if entry not in unread]
    spared = [entry for entry in others if is_for_budget(entry.summary.fallback)]
    if failed := [entry for entry in others if entry not in spared]:
        yield sentences.format_facts_only(_list_numbers(failed))
    for reason in dict.fromkeys(entry.summary.fallback for entry in spared):
        numbers = _list_numbers([entry for entry in spared if entry.summary.fallback == reason])
        yield sentences.format_facts_only(numbers, describe_fallback(reason))
    if is_for_budget(digest.overview.fallback):
        yield sentences.format_no_overview(describe_fallback(digest.overview.fallback))
    if unread:
        yield sentences.format_unreadable(_list_numbers(unread))


def describe_count_difference(digest: Digest) -> str:
    """Return what an independent count says if it differs or is missing; empty if the counts agree."""
    return digest.count.describe_caveats(digest.merged_count)


def _describe_view(digest: Digest) -> str:
    """Return how many pull requests the view shows, and its filters; empty if it shows all."""
    return sentences.format_view(digest) if digest.view and digest.merged_count else ""


def _describe_diffs(digest: Digest) -> str:
    """Return which summaries were not written from full diffs."""
    if len(digest.fallback_entries) == len(digest.entries):
        return ""
    if not digest.clipped_entries:
        return sentences.FULL_DIFFS
    return sentences.format_partial_diffs(_list_numbers(digest.clipped_entries))


def _list_numbers(entries: Iterable[Entry]) -> str:
    """Return the first numbers of the entries, and how many more there are."""
    return sentences.format_numbers([entry.number for entry in entries], _MAX_NUMBERS)
