"""Profiles in a terminal: one line for each, and what one of them holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from bot.domain.profile.entries import ProfileEntry
from bot.domain.text.strings import collapse_lines, format_count
from impact.profile.models import Profile, Use

NO_PROFILES = "No profiles yet: prdigest profile add NAME --repo owner/name adds one."
_MAX_UNREAD = 10


def format_entry(entry: ProfileEntry) -> str:
    """Return a profile on one line: where it comes from, what it uses, and when it was scanned."""
    source = str(entry.source) if entry.source else "a file"
    scanned = f"{entry.refreshed_at:%Y-%m-%d %H:%M} UTC" if entry.refreshed_at else "not scanned yet"
    commit = f" at {entry.commit[:9]}" if entry.commit else ""
    counts = f"{format_count(entry.uses, 'use')} in {format_count(entry.files, 'file')}"
    problem = f" · {collapse_lines(entry.problem)}" if entry.problem else ""
    return f"{entry.name}: {source}{commit} on {entry.upstream} · {counts} · {scanned}{problem}"


def format_profile(entry: ProfileEntry, profile: Profile | None) -> Iterator[str]:
    """Yield what a profile holds: uses by kind, and files that could not be read."""
    yield format_entry(entry)
    if profile is None:
        return
    yield f"Packages: {', '.join(profile.packages)}"
    for kind, count in Counter(use.kind for use in profile.uses).most_common():
        yield f"  {count:>6,}  {kind}"
    yield f"  {len(profile.classes):>6,}  classes with upstream ancestors"
    for file in profile.unread[:_MAX_UNREAD]:
        yield f"  not read: {collapse_lines(file.path)} ({file.reason})"
    if len(profile.unread) > _MAX_UNREAD:
        yield f"  and {format_count(len(profile.unread) - _MAX_UNREAD, 'other file')} not read"


def format_uses(uses: Iterable[Use]) -> Iterator[str]:
    """Yield each use with its place, by path and line."""
    for use in sorted(uses, key=lambda each: (each.path, each.line, each.name)):
        yield f"{use.path}:{use.line} {use.kind} {collapse_lines(use.name)}"
