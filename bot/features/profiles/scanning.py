"""The scan of a team's tree, linked to upstream as it is and as it was days ago.

What was read of a file is kept by its content, so that a day reads only what changed.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import TypeVar

from bot.app import App
from bot.errors import PrdigestError, SourceUnavailable, StoreUnavailable, UsageError
from bot.features.profiles.service import PinnedMerge, ProfileEntry
from bot.platform.github.caches import ReleaseCache
from bot.platform.github.source_files import GitHubTrees
from bot.platform.pulls.models import PullRequest
from bot.platform.source.models import RepositoryTree, SourceFiles, TreeFile
from bot.platform.source.reading import update_mirror
from bot.platform.store.tables import Table
from bot.platform.worker_threads import DeadlineExecutor
from impact.coverage import UnreadFile
from impact.profile.file_uses import SCAN_VERSION, is_scanned, scan_file
from impact.profile.linking import UpstreamIndex, combine_links, link_profile
from impact.profile.manual import apply_manual, parse_manual
from impact.profile.models import Profile
from impact.profile.plain_uses import FileUses
from impact.profile.scan import build_profile, list_pinned_revisions
from impact.python.models import ModuleOutline
from impact.python.module_names import name_module
from impact.python.outline import build_outline
from impact.repository import Repository
from impact.source.models import MAX_SOURCE_BYTES, SourceFile, is_tag
from impact.text.strings import quote_input

log = logging.getLogger(__name__)

T = TypeVar("T")

# vllm-ascend has some 1,200 such files; a tree of more is scanned in part
MAX_SCANNED_FILES = 6_000
# what upstream removed meanwhile is known by its tree of then; the median fix of vllm-ascend follows after 9 days
LOOK_BACK = timedelta(days=14)
# what a team adds and ignores by hand, reviewed as its other files are
MANUAL_FILE = ".prdigest-profile.yaml"
# part of the keys of kept outlines: raise it when the reading of modules changes
OUTLINE_VERSION = "1"
# of others, and not the team's to change
_FOREIGN = frozenset({"node_modules", "third_party", "third-party", "vendor", ".git"})
# dashboards are JSON and have some 200 KB; larger data files use nothing
_MAX_DATA_BYTES = 300_000
# files that GitHub gives in one call
_BATCH = 50
# each round reads the modules that the last one led to: re-exports and bases of bases
_MAX_ROUNDS = 10
# vLLM has some 1,500 modules, of which vllm-ascend reaches some 400
_MAX_MODULES = 3_000
# what is kept of a file that is no module that can be read
_NO_OUTLINE = ModuleOutline("", is_package=False)

# a tree is read each day, and most of its files stay as they are
FILE_USES = Table(
    "scanned:{version}:{file}",
    FileUses,
    "what a file of a team's tree uses of an upstream",
    days=7,
    counted_as="file_uses",
)
OUTLINES = Table(
    "outline:{version}:{file}",
    ModuleOutline,
    "what a module of an upstream defines",
    days=7,
    version=2,
    survives_reset=True,
    counted_as="outlines",
)


def scan_profile(app: App, entry: ProfileEntry) -> tuple[Profile, PinnedMerge | None]:
    """Return a profile as it is now, with its pin: scanned from its source, or that of a file with further links.

    Raises UsageError if what the tree says by hand is wrong or the file's profile is gone, and PrdigestErrors.
    """
    if entry.source:
        return _scan_source(app, entry, entry.source)
    kept = app.profiles.get_profile(entry.name)
    if kept is None:
        raise UsageError("its file can't be read by this version: add it again.")
    pin = locate_pin(app, entry, kept)
    return combine_links(_link_profile(app, entry, kept, pin), kept), pin


def _scan_source(app: App, entry: ProfileEntry, source: Repository) -> tuple[Profile, PinnedMerge | None]:
    trees, files = _require_sources(app)
    update_mirror(app.sources.source_mirror, source)
    tree = trees.list_tree(source)
    chosen = select_scanned(tree.files)

    def scan(file: SourceFile) -> FileUses:
        if file.problem:
            return FileUses(file.path, problem=str(file.problem))
        return scan_file(file.path, file.text, entry.packages)

    packages = hashlib.sha256(" ".join(entry.packages).encode()).hexdigest()[:8]
    uses = _read_files(
        app, FILE_USES, f"{SCAN_VERSION}-{packages}", scan, source, tree.commit, chosen[:MAX_SCANNED_FILES]
    )
    at = app.now().astimezone(UTC)
    profile = build_profile(entry.name, str(source), tree.commit, at, entry.packages, uses)
    left_out = [
        UnreadFile(file.path, "the tree has more files than are scanned") for file in chosen[MAX_SCANNED_FILES:]
    ]
    pin = locate_pin(app, entry, profile)
    linked = _link_profile(app, entry, replace(profile, unread=(*profile.unread, *left_out)), pin)
    manual = files.read_files(source, tree.commit, [MANUAL_FILE])[MANUAL_FILE]
    if manual.problem:
        return linked, pin
    log.info("the profile %s follows %s", entry.name, MANUAL_FILE)
    return apply_manual(linked, parse_manual(manual.text)), pin


def select_scanned(files: Iterable[TreeFile]) -> list[TreeFile]:
    chosen = []
    for file in files:
        path = PurePosixPath(file.path)
        most = _MAX_DATA_BYTES if path.suffix.lower() == ".json" else MAX_SOURCE_BYTES
        if file.size <= most and _FOREIGN.isdisjoint(path.parts[:-1]) and is_scanned(file.path):
            chosen.append(file)
    return sorted(chosen, key=lambda file: (not file.path.endswith((".py", ".pyi")), file.path))


def _require_sources(app: App) -> tuple[GitHubTrees, SourceFiles]:
    if app.sources.source_trees is None or app.sources.source_files is None:
        raise SourceUnavailable("There is no source of files here.")
    return app.sources.source_trees, app.sources.source_files


# --- the merge that the tree pins


def locate_pin(app: App, entry: ProfileEntry, profile: Profile) -> PinnedMerge | None:
    """Return the merge that a tree pins; the last known one while nobody can say, and None if there is none."""
    names = list_pinned_revisions(profile, entry.upstream.name)
    known = entry.pin if entry.pin and entry.pin.name in names[:1] else None
    # a tag may be moved
    if not names or (known and not is_tag(known.name)):
        return known
    try:
        name, merge = find_pin(app, entry.upstream, "", profile)
    except UsageError as error:
        log.info("the pin of %s is not known: %s", entry.name, error)
        return known
    except StoreUnavailable:
        raise
    except PrdigestError as error:
        log.warning("the pin of %s can't be looked up: %s", entry.name, error)
        return entry.pin
    return PinnedMerge(name, merge.commit, merge.merge_time.astimezone(UTC))


def find_pin(app: App, upstream: Repository, start: str, profile: Profile) -> tuple[str, PullRequest]:
    """Return a tag or hash and its merge: what ``start`` names or begins, or else what the profile's tree pins.

    Raises UsageError if there is none, PrdigestError if the source does not answer.
    """
    names = (start,) if start else list_pinned_revisions(profile, upstream.name)
    for name in names:
        if merge := find_merge(app, upstream, name):
            return name, merge
    if not names:
        raise UsageError(f"Which commit does {profile.name} use? Add it, such as upgrade 97f2f160fd or v1.2.0.")
    unknown = f"no {'tag' if is_tag(names[0]) else 'merge'} of {upstream} that I know"
    if start:
        raise UsageError(f"{quote_input(start)} is {unknown}: write another commit or tag.")
    raise UsageError(f"{profile.name} pins {quote_input(names[0])}, {unknown}: add a commit or tag of it.")


def find_merge(app: App, upstream: Repository, name: str) -> PullRequest | None:
    """Return the merge of a hash, or the last one of a tag; None if there is none. Raises PrdigestError."""
    commit, background, releases = name, app.sources.background, app.sources.releases
    if is_tag(name):
        commit = ReleaseCache(releases, app.cached, app.now).find_commit(upstream, name) if releases else ""
    if not commit or background is None:
        return None
    return next(iter(background.find_merges(upstream, [commit]).values()), None)


# --- what upstream defines


def _link_profile(app: App, entry: ProfileEntry, profile: Profile, pin: PinnedMerge | None) -> Profile:
    """Link a profile to upstream as it is, and as it was before the merges that are judged by it."""
    now, before = _link_to(app, profile, entry.upstream), app.now() - LOOK_BACK
    try:
        earlier = _link_to(app, profile, entry.upstream, min(before, pin.merged_at) if pin else before)
    except SourceUnavailable as error:
        log.info("%s is linked to the newest commit alone: %s", entry.name, error)
        return now
    return combine_links(now, earlier)


def _link_to(app: App, profile: Profile, upstream: Repository, until: datetime | None = None) -> Profile:
    """Return a profile linked to the newest commit of an upstream, or to that of an aware instant."""
    # modules are read in rounds, and only if their content is not known: then one round is enough
    trees, _ = _require_sources(app)
    tree = trees.list_tree(upstream, until)
    modules = _list_modules(tree)
    outlines: dict[str, ModuleOutline | None] = {}
    missing: dict[str, None] = {}

    def load(module: str) -> ModuleOutline | None:
        if module in modules and module not in outlines:
            kept = app.tables.get(OUTLINES, OUTLINE_VERSION, _name_content(modules[module]))
            if kept is None:
                missing[module] = None
                return None
            outlines[module] = kept if kept.module else None
        return outlines.get(module)

    linked = link_profile(profile, UpstreamIndex(load))
    for _ in range(_MAX_ROUNDS):
        names = list(missing)[: max(_MAX_MODULES - len(outlines), 0)]
        missing.clear()
        if not names:
            break
        files = [modules[name] for name in names]
        read = _read_files(app, OUTLINES, OUTLINE_VERSION, _read_outline, upstream, tree.commit, files)
        defined = {outline.module: outline for outline in read if outline.module}
        # those of which nothing is known are not asked for again
        outlines |= {name: defined.get(name) for name in names}
        linked = link_profile(profile, UpstreamIndex(load))
    return linked


def _list_modules(tree: RepositoryTree) -> dict[str, TreeFile]:
    """Return the files of the modules of a tree; a package goes before a module of its name."""
    modules: dict[str, TreeFile] = {}
    for file in tree.files:
        named = name_module(file.path)
        if named and (named[1] or named[0] not in modules):
            modules[named[0]] = file
    return modules


def _read_outline(file: SourceFile) -> ModuleOutline:
    """Return the outline of a file without its calls, which say nothing about what it defines."""
    outline = None if file.problem else build_outline(file.path, file.text)
    return replace(outline, calls=()) if outline else _NO_OUTLINE


# --- files, each read once


def _read_files(
    app: App,
    table: Table[T],
    version: str,
    read: Callable[[SourceFile], T],
    repository: Repository,
    commit: str,
    files: Sequence[TreeFile],
) -> list[T]:
    """Return what ``read`` makes of files, in no order. ``version`` names its rules and what else it takes."""
    _, source = _require_sources(app)
    kept = app.tables.get_each(table, [(version, _name_content(file)) for file in files])
    values = [value for value in kept if value is not None]

    def read_batch(batch: Sequence[TreeFile]) -> list[T]:
        texts = source.read_files(repository, commit, [file.path for file in batch])
        made = [(file, read(texts[file.path])) for file in batch]
        for file, value in made:
            if not texts[file.path].problem:
                app.tables.put(table, value, version, _name_content(file))
        return [value for _, value in made]

    missing = [file for file, value in zip(files, kept, strict=True) if value is None]
    batches = [missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH)]
    with DeadlineExecutor(app.settings.prdigest_concurrency, "files") as crew:
        for made in crew.map_items(read_batch, batches):
            values += made
    return values


def _name_content(file: TreeFile) -> str:
    """Return the name of a file in keys: the same content at another path is another module."""
    return hashlib.sha256(f"{file.content} {file.path}".encode(errors="replace")).hexdigest()[:32]
