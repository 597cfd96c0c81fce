from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.app import App
from bot.errors import PrdigestError, StoreUnavailable, UsageError
from bot.features.profiles.scanning import LOOK_BACK, locate_pin, scan_profile
from bot.features.profiles.service import PinnedMerge, ProfileEntry
from bot.features.touches.contracts import list_kept_contracts
from bot.features.touches.decisions import CLOSINGS, DECISIONS, HITS, close_hits
from bot.platform.store.due_queue import ProfileRefresh
from impact.profile.models import Profile, ProfileMove
from impact.text.strings import quote_input
from impact.touches.judgement import build_move, judge_both

log = logging.getLogger(__name__)

# a scan takes some ten calls on a usual day
SCAN_INTERVAL = timedelta(days=1)
# a digest shows those of its day
_MAX_MOVES = 14


def add_profile(app: App, entry: ProfileEntry, profile: Profile | None = None) -> ProfileEntry:
    """Add or replace a profile, and scan it now and each day. A failure is part of the entry.

    One from a file comes with its ``profile``, which each day is linked to upstream again.
    """
    if profile:
        _store_scan(app, entry, profile, locate_pin(app, entry, profile))
    else:
        app.profiles.put(entry)
    app.due_queue.put(ProfileRefresh(entry.name), app.now() + SCAN_INTERVAL)
    return refresh_profile(app, entry.name) or entry


def remove_profile(app: App, name: str) -> None:
    require_entry(app, name)
    app.due_queue.drop(ProfileRefresh(name))
    app.tables.remove(HITS, name)
    app.tables.remove(DECISIONS, name)
    app.tables.remove(CLOSINGS, name)
    app.profiles.remove(name)


def require_entry(app: App, name: str) -> ProfileEntry:
    entry = app.profiles.get_entry(name)
    if entry is None:
        raise UsageError(f"There is no profile {quote_input(name)}.")
    return entry


def refresh_profile(app: App, name: str) -> ProfileEntry | None:
    """Scan a profile again, and return its entry, None if it is gone. After a failure it stays as it was."""
    entry = app.profiles.get_entry(name)
    if entry is None:
        return None
    try:
        return _store_scan(app, entry, *scan_profile(app, entry))
    except StoreUnavailable:
        raise
    except PrdigestError as error:
        log.warning("the profile %s could not be refreshed: %s", name, error)
        failed = replace(entry, problem=str(error), refreshed_at=app.now().astimezone(UTC))
        app.profiles.put(failed)
        return failed


def _store_scan(app: App, entry: ProfileEntry, profile: Profile, pin: PinnedMerge | None) -> ProfileEntry:
    at, has_moved = app.now().astimezone(UTC), profile.commit != entry.commit or entry.moved_at is None
    fresh = replace(
        entry,
        commit=profile.commit,
        uses=len(profile.uses),
        files=profile.files,
        refreshed_at=at,
        moved_at=at if has_moved else entry.moved_at,
        problem="",
        # before the profile, which the next attempt compares with
        moves=_note_move(app, entry, profile, pin, at) if has_moved else entry.moves,
        pin=pin,
    )
    app.profiles.put(fresh, profile)
    return fresh


def _note_move(
    app: App, entry: ProfileEntry, profile: Profile, pin: PinnedMerge | None, at: datetime
) -> tuple[ProfileMove, ...]:
    """Return the moves with this one, if earlier merges whose contracts are kept mean something else for it.

    All since the pins before and after it are judged. Hits that the new pin is past are closed, and so are those
    that no longer touch since their file changed.
    """
    before, known = app.profiles.get_profile(entry.name), entry.pin
    if before is None or before.commit == profile.commit:
        return entry.moves
    starts = [at - LOOK_BACK, *(each.merged_at for each in (pin, known) if each)]
    merges = {pull.number: pull for pull in app.merge_history.read_merges(entry.upstream, min(starts), at)}
    pairs = judge_both(before, profile, filter(None, list_kept_contracts(app, merges.values())))
    behind = {number for number, pull in merges.items() if pin and pull.merge_time <= pin.merged_at}
    closed = dict[int, str]()
    for first, then in pairs:
        # what an earlier move passed was adapted before this one
        is_new = known is None or merges[first.number].merge_time > known.merged_at
        paths = {use.path for touch in first.touches for use in touch.uses} if is_new else ()
        changed = any(
            before.contents.get(path, new) != new for path in paths for new in [profile.contents.get(path)]
        )
        if first.is_hit and (first.number in behind or (changed and not then.is_hit)):
            closed[first.number] = profile.commit if changed else ""
    reopened = [then.number for _, then in pairs if then.is_hit and then.number not in behind]
    close_hits(app, entry.name, entry.upstream, closed, reopened)
    move = build_move(pairs, at, behind)
    return (*entry.moves, move)[-_MAX_MOVES:] if move.began or move.ended else entry.moves
