"""The scan of a tree on this machine, linked to a clone of upstream."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from impact.clones.kept_readings import KeptReadings
from impact.clones.replay_cache import UpstreamTree
from impact.coverage import CoveredList
from impact.errors import UsageError, attempt
from impact.git.clone_trees import CloneTrees
from impact.git.working_tree import find_head
from impact.profile.file_uses import is_scanned, scan_file
from impact.profile.linking import UpstreamIndex
from impact.profile.manual import ManualFile, apply_manual
from impact.profile.models import PLAIN_KINDS, Profile, Use, UseKind, find_uses
from impact.profile.plain_uses import FileUses
from impact.profile.reasons import find_reasons
from impact.profile.scan import build_profile, list_pinned_revisions
from impact.source.models import BlobVersion, SourceFile, SourceProblem, is_tag
from impact.text.strings import quote_input

ProgressCallback = Callable[[int, int], None]

# what a tree may hold beside its text, and uses nothing of upstream
_SILENT = frozenset({SourceProblem.BINARY, SourceProblem.SYMLINK, SourceProblem.SUBMODULE, SourceProblem.FOLDER})
_IMPORTED = frozenset({UseKind.IMPORT, UseKind.SUBCLASS})
# uses whose lines are looked at for why they stand there
MAX_REASONS = 5_000
# files between two looks at what is kept
_STEP = 100


def ignore_progress(_done: int, _all: int) -> None:
    """Do nothing with the progress."""


@dataclass(frozen=True, slots=True)
class DownstreamTree:
    """The tree of a clone at a commit, or at its newest one, with the packages of upstream that it builds on.

    Without ``packages``, these are upstream's own. ``now`` is when it is scanned (UTC).
    """

    trees: CloneTrees
    name: str
    now: datetime
    commit: str = ""
    packages: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TreeScan:
    """The profile of a tree. ``link`` says in a sentence to which commit of upstream it is linked; else empty.

    ``gone`` are the uses of names that upstream no longer has at ``newest``, its newest commit.
    """

    profile: Profile
    link: str = ""
    newest: str = ""
    gone: tuple[Use, ...] = ()


def scan_tree(
    folder: Path,
    name: str | None,
    packages: Sequence[str],
    files: Iterable[SourceFile],
    scanned_at: datetime,
    *,
    upstream: CloneTrees | None = None,
    manual: ManualFile | None = None,
    progress: ProgressCallback = ignore_progress,
    kept: KeptReadings | None = None,
) -> TreeScan:
    """Return the profile of the files of a folder, linked to the commit of a clone that they pin.

    Where the clone has no such commit, or they pin none, its newest one is used. ``progress`` is called with the
    files that are read, and 0 as nobody knows how many there are. The default ``name`` is the folder's.

    Raises:
        UsageError: the clone has no commits.
    """
    told = (file for file in files if is_scanned(file.path) and file.problem not in _SILENT)
    scans = _scan_files(told, packages, lambda done: progress(done, 0), kept)
    name = name or folder.resolve().name
    profile = build_profile(name, str(folder), find_head(folder), scanned_at, packages, scans)
    scan = _link(profile, upstream) if upstream is not None else TreeScan(profile)
    return replace(scan, profile=apply_manual(scan.profile, manual)) if manual else scan


def _link(profile: Profile, upstream: CloneTrees) -> TreeScan:
    line = upstream.list_line()
    if not line:
        raise UsageError("The clone of upstream has no commits: give another one.")
    newest = line[-1].sha
    pin, commit = find_pin(profile, upstream, {each.sha for each in line})
    if commit:
        link = f"Linked to upstream at {commit[:10]}, which the tree pins{f' as {pin}' if is_tag(pin) else ''}."
    else:
        unknown = f"pins {quote_input(pin)}, which the clone lacks" if pin else "pins no commit or version of it"
        link = f"Linked to upstream's newest commit, {newest[:10]}: the tree {unknown}."
    tree = UpstreamTree(upstream)
    linked = tree.link(profile, commit or newest)
    tree.move_to(newest)
    return TreeScan(linked, link, newest, tuple(_list_gone(linked, UpstreamIndex(tree.load_outline))))


def find_pin(profile: Profile, upstream: CloneTrees, line: Set[str]) -> tuple[str, str]:
    """Return the pin that a commit of the line has, with that commit, or else the first one with none."""
    origin = upstream.read_facts().repository
    pins = list_pinned_revisions(profile, origin.name if origin else "")
    for pin in pins:
        commit = upstream.find_commit(pin) or upstream.find_tag(pin)
        if commit in line:
            return pin, commit
    return pins[0] if pins else "", ""


def _list_gone(profile: Profile, newest: UpstreamIndex) -> Iterator[Use]:
    """Yield what the tree uses by a name that leads nowhere any more, and that it does not guard."""
    # where it led nowhere before, only a name that the tree itself imports or extends counts; files that a build
    # makes are not in the clone
    for use in profile.uses:
        names = (use.name, *use.definitions)
        is_named = use.definitions or (use.kind in _IMPORTED and "._" not in use.name)
        is_plain = use.kind in PLAIN_KINDS or use.kind is UseKind.COPY
        if is_named and not is_plain and not use.is_guarded and not any(map(newest.find_definitions, names)):
            yield use


def scan_clone(
    trees: CloneTrees,
    name: str,
    commit: str,
    packages: Sequence[str],
    now: datetime,
    progress: ProgressCallback = ignore_progress,
    kept: KeptReadings | None = None,
) -> Profile:
    """Return what the tree of a clone uses of packages at a commit, by its hash."""
    versions = [BlobVersion(path, blob) for path, blob in trees.list_files(commit).items() if is_scanned(path)]
    files = (file for file in map(trees.read_file, versions) if file.problem not in _SILENT)
    scans = _scan_files(files, packages, lambda done: progress(done, len(versions)), kept)
    return build_profile(name, name, commit, now, packages, scans)


def read_modules(trees: CloneTrees, commit: str) -> Iterator[SourceFile]:
    """Yield the Python files of a clone at a commit, with texts or problems."""
    for path, blob in trees.list_files(commit).items():
        if path.endswith(".py"):
            yield trees.read_file(BlobVersion(path, blob))


def _scan_files(
    files: Iterable[SourceFile],
    packages: Sequence[str],
    progress: Callable[[int], None],
    kept: KeptReadings | None,
) -> Iterator[FileUses]:
    waiting, done = iter(files), 0
    while some := {_name_content(file, packages): file for file in islice(waiting, _STEP)}:
        # a small tree is read as quickly
        store = kept if done or len(some) == _STEP else None
        known = store.scans.load(list(some)) if store else {}
        fresh = {
            name: FileUses(file.path, problem=str(file.problem))
            if file.problem
            else scan_file(file.path, file.text, packages)
            for name, file in some.items()
            if name not in known
        }
        if store and fresh:
            store.scans.keep(fresh)
        yield from (known.get(name) or fresh[name] for name in some)
        done += len(some)
        progress(done)


def _name_content(file: SourceFile, packages: Sequence[str]) -> str:
    """Return what stands for all that a scan of a file depends on."""
    parts = (file.path, str(file.problem), ",".join(packages), file.text)
    return hashlib.blake2b("\0".join(parts).encode(errors="surrogatepass"), digest_size=20).hexdigest()


# --- what a tree uses, and why


def select_uses(profile: Profile, kinds: Iterable[UseKind], text: str) -> CoveredList[Use]:
    """Return the uses of some kinds, all without any, that a name or path names, by place."""
    chosen = frozenset(kinds) or frozenset(UseKind)
    every = find_uses(profile, text) if text.strip() else CoveredList(profile.uses, profile.coverage)
    return every.derive(lambda uses: sorted((use for use in uses if use.kind in chosen), key=_get_place))


def _get_place(use: Use) -> tuple[str, int, str]:
    return use.path, use.line, use.name


def explain_uses(trees: CloneTrees, commit: str, uses: Iterable[Use]) -> dict[Use, str]:
    """Return why uses stand where they do, as far as the files of a commit say it."""
    by_path: dict[str, dict[Use, None]] = defaultdict(dict)
    for use in [*dict.fromkeys(uses)][:MAX_REASONS]:
        by_path[use.path][use] = None
    listed = trees.list_files(commit) if by_path else {}
    reasons: dict[Use, str] = {}
    for path, group in by_path.items():
        file = trees.read_file(BlobVersion(path, listed[path])) if path in listed else None
        if file and not file.problem:
            reasons.update(attempt(path, lambda *of: [*find_reasons(*of)], path, file.text, group) or ())
    return reasons


def name_clone(trees: CloneTrees, folder: Path) -> str:
    """Return the name of a clone's repository, or of its folder where nothing says it."""
    origin = trees.read_facts().repository
    return origin.name if origin else folder.resolve().name
