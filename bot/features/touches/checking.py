"""A type checker as second judge, over mirrors of upstream and of a team's code. What it found is kept for all.

What runs jobs starts it, in a process of its own and one at a time: it takes 230 MB and seconds, or minutes.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.app import App
from bot.features.profiles.scanning import MANUAL_FILE
from bot.features.profiles.service import ProfileEntry
from bot.platform import deadlines
from bot.platform.cleaning import clean_code, clean_line, clean_path
from bot.platform.git.folder import MirrorFolder, hold_file
from bot.platform.private_folders import make_private_folder
from bot.platform.store.tables import Table
from impact.checker.diagnostics import CheckedMerges, CheckerError, Finding
from impact.checker.program import VERSION, CheckerFailed
from impact.clones.line_checks import check_line
from impact.clones.tree_scan import read_modules
from impact.contract.models import MergeContract
from impact.errors import ImpactError, attempt
from impact.git.clone_trees import CloneTrees
from impact.profile.manual import ManualFile, apply_manual, parse_manual
from impact.profile.models import Profile
from impact.repository import Repository
from impact.source.models import BlobVersion, SourceFile, SourceProblem
from impact.touches.judgement import find_doubts
from impact.touches.profile_index import ProfileIndex

log = logging.getLogger(__name__)

# part of the keys: raise the second number when a check finds something else
_VERSION = f"{VERSION}-1"
# seconds of a check, and the share of the time that is left: a digest is not late for it
_MOST_SECONDS, _SHARE = 120.0, 0.5
_NOT_YET = "nobody has had these merges checked yet"
# between the ends of a way
_TO = ".."


@dataclass(frozen=True, slots=True)
class KeptCheck:
    """What fails in a team's tree, by the merge that began it. ``skipped`` Python files were not looked at.

    With ``alone`` it says only why nothing was looked at, as a clause.
    """

    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    # files that were looked at right before and after a merge
    looked: Mapping[str, frozenset[str]] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    alone: str = ""


CHECKS = Table(
    "checked:{version}:{team}:{packages}:{merges}",
    KeptCheck,
    "what a type checker found in a team's tree after a merge, or at the end of a way",
    days=30,
    counted_as="checks",
)
# so long it is not tried again
FAILED_CHECKS = Table(
    "check_failed:{version}:{team}:{packages}:{first}:{last}",
    KeptCheck,
    "why a type checker could not look at some merges a moment ago",
    days=1 / 48,
)


def check_merges(
    app: App, profile: Profile, contracts: Sequence[MergeContract], entry: ProfileEntry | None = None
) -> CheckedMerges:
    """Return what is kept of merges, by their commits; with the ``entry``, those that are missing are looked at.

    Raises StoreUnavailable and ProcessShutdown. Whatever else goes wrong is the reason why the rules judge alone.
    """
    return _find(app, profile, [each.commit for each in contracts], entry, contracts)


def check_way(
    app: App, profile: Profile, start: str, end: str, entry: ProfileEntry | None = None
) -> CheckedMerges:
    """Return what fails at the end of a way and not at its start, as :func:`check_merges` does."""
    return _find(app, profile, [f"{start}{_TO}{end}"], entry)


def _find(
    app: App,
    profile: Profile,
    keys: Sequence[str],
    entry: ProfileEntry | None,
    contracts: Sequence[MergeContract] = (),
) -> CheckedMerges:
    name = (_VERSION, profile.commit, name_packages(profile))

    def load() -> dict[str, KeptCheck]:
        kept = app.tables.get_each(CHECKS, [(*name, key) for key in keys])
        return {key: check for key, check in zip(keys, kept, strict=True) if check}

    is_off = app.settings.prdigest_type_checker == "off"
    known, reason = load(), "the type checker is switched off" if entry and is_off else _NOT_YET
    if entry and not is_off and app.starts_checks and len(known) < len(keys):
        seconds = min(_MOST_SECONDS, deadlines.get_seconds_left() * _SHARE)
        reason = f"the mirror of {entry.upstream} does not have them"
        try:
            with (
                deadlines.bound_work(seconds),
                open_mirrors(app, entry) as (upstream, team),
                _hold_folder(app.settings.mirror_folder or Path()) as folder,
            ):
                # another one may have done it while this one waited for the folder
                known = load()
                if missing := [key for key in keys if key not in known]:
                    with _note_failure(app, (*name, missing[0], missing[-1])):
                        merges = [each for each in contracts if each.commit in missing]
                        made = _check(upstream, team, profile, missing, merges, folder)
                    for key, check in made.items():
                        app.tables.put(CHECKS, check, *name, key)
                    known |= made
        except CheckerFailed as error:
            reason = str(error)
            log.info("the rules judge alone for %s: %s", profile.name, reason)
    paths = _list_paths(profile).difference(*(check.skipped for check in known.values()))
    findings = {commit: each for check in known.values() for commit, each in check.findings.items()}
    looked = {commit: each for check in known.values() for commit, each in check.looked.items()}
    return CheckedMerges(findings, looked, paths, reason if len(known) < len(keys) else "")


def name_packages(profile: Profile) -> str:
    """Return what stands for the packages of a profile in keys."""
    return hashlib.sha256(" ".join(profile.packages).encode()).hexdigest()[:8]


def _list_paths(profile: Profile) -> frozenset[str]:
    """Return the Python files of the team's that a profile knows."""
    paths = (*profile.contents, *(use.path for use in profile.uses))
    return frozenset(path for path in paths if path.endswith(".py"))


# --- where a check begins


@contextmanager
def _hold_folder(root: Path) -> Iterator[Path]:
    """Yield an empty folder, which no other check has. Raises CheckerFailed."""
    # the names of owners have no such sign
    folder, lock = root / "~checker", root / "~checker.lock"
    try:
        with hold_file(lock, deadlines.get_seconds_left()) as is_held:
            if not is_held:
                raise CheckerFailed("other checks take all the time")
            # what a process left that was killed
            shutil.rmtree(folder, ignore_errors=True)
            make_private_folder(folder)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise CheckerFailed("the folder of the mirrors can't be written") from error


@contextmanager
def open_mirrors(app: App, entry: ProfileEntry) -> Iterator[tuple[CloneTrees, CloneTrees]]:
    """Yield upstream and the team's code for the time that is left. Raises CheckerFailed, also in the block."""
    root = app.settings.mirror_folder
    if root is None:
        raise CheckerFailed("this bot keeps no mirror of the repositories")
    if entry.source is None:
        raise CheckerFailed("the profile is from a file, so your code is not at hand")
    with (
        closing(_open_mirror(root, entry.upstream)) as upstream,
        closing(_open_mirror(root, entry.source)) as team,
    ):
        yield upstream, team


class _Mirror(CloneTrees):
    """A mirror that is read until the work has to end, and in which nothing is missing: it may be made again."""

    def __init__(self, path: Path, limit: deadlines.Limit) -> None:
        def check() -> None:
            limit.ending.raise_if_triggered()
            if time.monotonic() >= limit.end:
                raise CheckerFailed("reading the mirrors took too long")

        super().__init__(path, check=check)

    def list_files(self, commit: str) -> Mapping[str, str]:
        # before each check of types
        self._check()
        return super().list_files(commit)

    def read_file(self, version: BlobVersion) -> SourceFile:
        self._check()
        file = super().read_file(version)
        if file.problem is SourceProblem.UNAVAILABLE:
            raise CheckerFailed("a file of a mirror can't be read")
        return file


def _open_mirror(root: Path, repository: Repository) -> CloneTrees:
    """Open a mirror in which nothing is missing. Raises CheckerFailed, also where a file can't be read later."""
    folder = MirrorFolder(root, repository)
    if problem := folder.find_problem():
        raise CheckerFailed(f"the mirror of {repository} can't be used: {problem}")
    return _Mirror(folder.path, deadlines.get_limit())


def explain_failure(error: Exception) -> str:
    """Return why a mirror was not read, as a clause: sentences of git's name folders of this machine."""
    is_ours = isinstance(error, (CheckerFailed, CheckerError))
    return str(error).rstrip(".") if is_ours else "a mirror can't be read"


@contextmanager
def _note_failure(app: App, name: tuple[str, ...]) -> Iterator[None]:
    """Keep for a while why the block fails, and that it does if this process ends with it, for lack of memory say.

    Raises CheckerFailed, also for one that is kept.
    """
    if failed := app.tables.get(FAILED_CHECKS, *name):
        raise CheckerFailed(failed.alone)
    app.tables.put(FAILED_CHECKS, KeptCheck(alone="the last check came to no end"), *name)
    try:
        yield
    except ImpactError as error:
        log.info("a check failed: %s", error)
        reason = explain_failure(error)
        app.tables.put(FAILED_CHECKS, KeptCheck(alone=reason), *name)
        raise CheckerFailed(reason) from error
    except BaseException:
        app.tables.remove(FAILED_CHECKS, *name)
        raise
    app.tables.remove(FAILED_CHECKS, *name)


# --- a check


def _check(
    upstream: CloneTrees,
    team: CloneTrees,
    profile: Profile,
    keys: Sequence[str],
    contracts: Sequence[MergeContract],
    folder: Path,
) -> dict[str, KeptCheck]:
    """Return what is found of some merges, or of a way, as far as upstream has them."""
    if not team.find_commit(profile.commit):
        raise CheckerFailed("the mirror of your code lacks the commit that was scanned")
    line, ends = upstream.list_line(), {end for key in keys for end in key.split(_TO)}
    places = [at for at, commit in enumerate(line) if commit.sha in ends]
    is_way = _TO in keys[0]
    if not places or (is_way and len(places) < len(ends)):
        return {}
    way = line[max(0, places[0] - (not is_way)) : places[-1] + 1]
    files = read_modules(team, profile.commit)
    hashes, doubts = [each.sha for each in way], find_doubts(contracts, ProfileIndex(profile))
    until = deadlines.get_limit().end
    checked = attempt(
        "a check", check_line, upstream, files, profile.packages, hashes, contracts, doubts, None, folder, until
    )
    if checked is None or checked.alone:
        raise CheckerFailed(checked.alone if checked else "the check met a defect")
    blob = team.list_files(profile.commit).get(MANUAL_FILE)
    manual = parse_manual(team.read_file(BlobVersion(MANUAL_FILE, blob)).text if blob else "")
    findings = {commit: tuple(_clean(profile, each, manual)) for commit, each in checked.findings.items()}
    skipped = tuple(sorted(_list_paths(profile).difference(map(clean_path, checked.paths))))
    if is_way:
        return {keys[0]: KeptCheck(findings, checked.looked, skipped)}
    # without its parent, the first commit of all can't be judged
    known = (line[at].sha for at in places if line[at].parent)
    return {
        commit: KeptCheck(
            {commit: findings.get(commit, ())}, {commit: checked.looked.get(commit, frozenset())}, skipped
        )
        for commit in known
    }


def _clean(profile: Profile, findings: Iterable[Finding], manual: ManualFile) -> Iterator[Finding]:
    """Yield findings without credentials, and without those that the team ignores by hand."""
    for each in findings:
        use = replace(each.use, path=clean_path(each.use.path), text=clean_code(each.use.text))
        if apply_manual(replace(profile, uses=(use,)), manual).uses[:1] == (use,):
            yield replace(each, use=use, message=clean_line(each.message))
