"""The refresh of profiles: a scan of a team's tree, linked to upstream as it is and as it was days ago."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bot.domain.errors import PrdigestError, SourceUnavailable, StoreUnavailable, UsageError
from bot.domain.keyspace.keys import FILE_USES
from bot.domain.profile.entries import ProfileEntry
from bot.domain.profile.selection import MANUAL_FILE, select_scanned
from bot.domain.pull_requests.models import Repository
from bot.ports import Cache, ProfileStore, SourceFiles, SourceMirror, SourceTrees
from bot.ports.codecs.versioned_json import VersionedJson
from bot.services.profile.content_cache import ContentCache
from bot.services.profile.upstream_outlines import UpstreamOutlines
from bot.services.source.mirror_updates import update_mirror
from impact.contract.models import MergeContract, UnreadFile
from impact.profile.combining import combine_links
from impact.profile.file_uses import SCAN_VERSION, FileUses, scan_file
from impact.profile.manual import apply_manual, parse_manual
from impact.profile.models import Profile
from impact.profile.moves import ProfileMove
from impact.profile.scan import build_profile
from impact.source.models import SourceFile
from impact.touches.moves import compare_profiles

log = logging.getLogger(__name__)

# vllm-ascend has some 1,200 such files; a tree of more is scanned in part
MAX_SCANNED_FILES = 6_000
# what upstream removed meanwhile is known by its tree of then; the median fix of vllm-ascend follows after 9 days
LOOK_BACK = timedelta(days=14)
# a digest shows those of its day
_MAX_MOVES = 14
_CODEC = VersionedJson(FileUses, 1)
_TOO_MANY = "the tree has more files than are scanned"


@dataclass(frozen=True, slots=True)
class ProfileSources:
    """Where trees are read: lists of files, their texts, and perhaps mirrors that save calls."""

    trees: SourceTrees | None
    files: SourceFiles | None
    mirror: SourceMirror | None = None


class ProfileRefresher:
    """Refresher of profiles. ``workers`` calls to GitHub run at a time; ``now`` returns the current aware time.

    ``list_contracts`` returns what recent merges of a repository changed, as far as that is kept.
    """

    def __init__(
        self,
        profiles: ProfileStore,
        sources: ProfileSources,
        cache: Cache,
        now: Callable[[], datetime],
        workers: int,
        list_contracts: Callable[[Repository], Sequence[MergeContract]] = lambda repository: (),
    ) -> None:
        self._list_contracts = list_contracts
        self._profiles = profiles
        self._sources = sources
        self._cache = cache
        self._now = now
        self._workers = workers

    def refresh(self, name: str) -> ProfileEntry | None:
        """Scan the source of a profile again, link it, and store both. Return its entry, None if it is gone.

        A failure is part of the entry, and the profile stays as it was.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        entry = self._profiles.get_entry(name)
        if entry is None:
            return None
        try:
            return self._store(entry, self._build_fresh(entry))
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log.warning("the profile %s could not be refreshed: %s", name, error)
            failed = replace(entry, problem=str(error), refreshed_at=self._now().astimezone(UTC))
            self._profiles.put(failed)
            return failed

    def add_profile(self, entry: ProfileEntry, profile: Profile | None = None) -> ProfileEntry:
        """Store a new profile in place of one of its name: from a file, or from its source at the next refresh.

        Raises StoreUnavailable.
        """
        if profile:
            return self._store(entry, profile)
        self._profiles.put(entry)
        return entry

    def _store(self, entry: ProfileEntry, profile: Profile) -> ProfileEntry:
        at, moved = self._now().astimezone(UTC), profile.commit != entry.commit or entry.moved_at is None
        fresh = replace(
            entry,
            commit=profile.commit,
            uses=len(profile.uses),
            files=profile.files,
            refreshed_at=at,
            moved_at=at if moved else entry.moved_at,
            problem="",
            moves=self._list_moves(entry, profile, at) if moved else entry.moves,
        )
        self._profiles.put(fresh, profile)
        return fresh

    def _list_moves(self, entry: ProfileEntry, profile: Profile, at: datetime) -> tuple[ProfileMove, ...]:
        """Return the moves of an entry with this one, if earlier merges mean something else for the new commit."""
        before = self._profiles.get_profile(entry.name)
        if before is None or before.commit == profile.commit:
            return entry.moves
        move = compare_profiles(before, profile, self._list_contracts(entry.upstream), at)
        return (*entry.moves, move)[-_MAX_MOVES:] if move.began or move.ended else entry.moves

    def _build_fresh(self, entry: ProfileEntry) -> Profile:
        """Return the profile as it is now: from its source, or that of a file with further links."""
        if entry.source:
            linked = self._link(entry, self._scan_source(entry, entry.source))
            return self._apply_manual(entry, entry.source, linked)
        kept = self._profiles.get_profile(entry.name)
        if kept is None:
            raise UsageError("its file can't be read by this version: add it again.")
        return combine_links(self._link(entry, kept), kept)

    def _scan_source(self, entry: ProfileEntry, source: Repository) -> Profile:
        trees, files = self._require_sources()
        update_mirror(self._sources.mirror, source)
        tree = trees.list_tree(source)
        chosen = select_scanned(tree.files)
        scans = ContentCache(
            self._cache, FILE_USES, _CODEC, _name_scan(entry.packages), lambda file: _scan(file, entry.packages)
        )
        file_uses = list(scans.read_files(files, source, tree.commit, chosen[:MAX_SCANNED_FILES], self._workers))
        profile = build_profile(
            entry.name, str(source), tree.commit, self._now().astimezone(UTC), entry.packages, file_uses
        )
        left_out = [UnreadFile(file.path, _TOO_MANY) for file in chosen[MAX_SCANNED_FILES:]]
        return replace(profile, unread=(*profile.unread, *left_out))

    def _apply_manual(self, entry: ProfileEntry, source: Repository, profile: Profile) -> Profile:
        """Add and leave out what the tree's own file says, if it has one. Raises UsageError if that is wrong."""
        _, files = self._require_sources()
        manual = files.read_files(source, profile.commit, [MANUAL_FILE])[MANUAL_FILE]
        if manual.problem:
            return profile
        log.info("the profile %s follows %s", entry.name, MANUAL_FILE)
        return apply_manual(profile, parse_manual(manual.text))

    def _link(self, entry: ProfileEntry, profile: Profile) -> Profile:
        """Link a profile to upstream as it is, and as it was before the merges that are judged by it."""
        trees, files = self._require_sources()
        outlines = UpstreamOutlines(trees, files, self._cache, self._workers)
        now = outlines.link_profile(profile, entry.upstream)
        try:
            earlier = outlines.link_profile(profile, entry.upstream, self._now() - LOOK_BACK)
        except SourceUnavailable as error:
            log.info("%s is linked to the newest commit alone: %s", entry.name, error)
            return now
        return combine_links(now, earlier)

    def _require_sources(self) -> tuple[SourceTrees, SourceFiles]:
        if self._sources.trees is None or self._sources.files is None:
            raise SourceUnavailable("There is no source of files here.")
        return self._sources.trees, self._sources.files


def build_entry(
    name: str, upstream: Repository, packages: Sequence[str], source: Repository | None = None
) -> ProfileEntry:
    """Return the entry of a new profile. Without packages it is that of the upstream's name."""
    guess = upstream.name.lower().replace("-", "_")
    return ProfileEntry(name, upstream, tuple(packages) or (guess,), source)


def _scan(file: SourceFile, packages: Sequence[str]) -> FileUses:
    """Return what a file uses, or why it could not be read."""
    if file.problem:
        return FileUses(file.path, problem=str(file.problem))
    return scan_file(file.path, file.text, packages)


def _name_scan(packages: Sequence[str]) -> str:
    """Return the version of a scan: its rules, and the packages that it looks for."""
    names = hashlib.sha256(" ".join(packages).encode()).hexdigest()[:8]
    return f"{SCAN_VERSION}-{names}"
