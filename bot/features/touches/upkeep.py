from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.app import App
from bot.errors import PrdigestError, StoreUnavailable, UsageError
from bot.features.profiles.scanning import LOOK_BACK, scan_profile
from bot.features.profiles.service import ProfileEntry
from bot.features.touches.contracts import get_kept_contract
from bot.features.touches.decisions import DECISIONS, HITS
from bot.platform.store.due_queue import ProfileRefresh
from impact.profile.models import Profile
from impact.profile.moves import ProfileMove
from impact.text.strings import quote_input
from impact.touches.moves import compare_profiles

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
        _store_scan(app, entry, profile)
    else:
        app.profiles.put(entry)
    app.due_queue.put(ProfileRefresh(entry.name), app.now() + SCAN_INTERVAL)
    return refresh_profile(app, entry.name) or entry


def remove_profile(app: App, name: str) -> None:
    require_entry(app, name)
    app.due_queue.drop(ProfileRefresh(name))
    app.tables.remove(HITS, name)
    app.tables.remove(DECISIONS, name)
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
        return _store_scan(app, entry, scan_profile(app, entry))
    except StoreUnavailable:
        raise
    except PrdigestError as error:
        log.warning("the profile %s could not be refreshed: %s", name, error)
        failed = replace(entry, problem=str(error), refreshed_at=app.now().astimezone(UTC))
        app.profiles.put(failed)
        return failed


def _store_scan(app: App, entry: ProfileEntry, profile: Profile) -> ProfileEntry:
    at, has_moved = app.now().astimezone(UTC), profile.commit != entry.commit or entry.moved_at is None
    fresh = replace(
        entry,
        commit=profile.commit,
        uses=len(profile.uses),
        files=profile.files,
        refreshed_at=at,
        moved_at=at if has_moved else entry.moved_at,
        problem="",
        moves=_list_moves(app, entry, profile, at) if has_moved else entry.moves,
    )
    app.profiles.put(fresh, profile)
    return fresh


def _list_moves(app: App, entry: ProfileEntry, profile: Profile, at: datetime) -> tuple[ProfileMove, ...]:
    """Return the moves with this one, if earlier merges whose contracts are kept mean something else for it."""
    before = app.profiles.get_profile(entry.name)
    if before is None or before.commit == profile.commit:
        return entry.moves
    merges = app.merge_history.read_merges(entry.upstream, app.now() - LOOK_BACK, app.now())
    contracts = tuple(kept for pull in merges if (kept := get_kept_contract(app, pull)))
    move = compare_profiles(before, profile, contracts, at)
    return (*entry.moves, move)[-_MAX_MOVES:] if move.began or move.ended else entry.moves
