"""What merges change for others: each is read once for all who ask, and what it deprecates is noted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import PurePosixPath
from threading import Event

from bot.app import App
from bot.dates import Span
from bot.errors import PrdigestError, RateLimited, StoreUnavailable, TimeLimitExceeded
from bot.features.merges import timeline
from bot.features.merges.timeline import MergeList
from bot.features.summaries.reading import load_files
from bot.features.touches.lines import LEDGER_DAYS, describe_elsewhere
from bot.features.touches.requests import ContractRequest
from bot.platform import deadlines
from bot.platform.github.caches import ReleaseCache
from bot.platform.github.open_pulls import GitHubOpenPulls
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.pulls.paths import Filters
from bot.platform.store.tables import Table
from bot.platform.worker_threads import DeadlineExecutor, note_progress
from impact.contract.deprecations import (
    DeprecationLedger,
    DeprecationNews,
    DeprecationState,
    Release,
    get_state,
    list_news,
    update_ledger,
)
from impact.contract.extraction import EXTRACTION_VERSION, extract_merge
from impact.contract.models import ChangeKind, FileVersions, MergeContract, cover_contracts, name_merge
from impact.coverage import COMPLETE, Coverage, CoveredList, CoveredPart, UnreadFile
from impact.errors import READING_FAILED, attempt
from impact.profile.models import Profile
from impact.repository import Repository
from impact.source.models import SourceProblem, SourceVersions
from impact.touches.profile_index import DeprecationStep, ProfileIndex, UsedDeprecation, find_uses

log = logging.getLogger(__name__)

# files of a merge that GitHub gives in one call; all but one of the 71 merges of three days of vLLM have less
MAX_FILES = 50
# a mirror has no calls to save; the widest merges of vLLM change some 1,200 files
MAX_MIRROR_FILES = 1_500
# open pull requests that were not read before, for one answer: up to 1,500 of GitHub's 10,000 calls an hour
MAX_OPEN = 500
OPEN_THINGS = "open pull requests"
# what is kept of them before a limit or the end of the time
_OPEN_STEP, _READING_SHARE = 50, 0.7
# merges that were not read before, for one answer: the busiest days have 120
_MAX_READ = 150
_TELLING = frozenset((ChangeKind.DEPRECATED, ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.RENAMED))
# a list of what will be removed may miss a release of the last hours; a digest of a day may not
_MAX_AGE = timedelta(days=1)

_UNLISTED = "their changed files could not be listed"
_NO_SOURCE = "the demo has no source files"

# as long as the summaries that they stand beside
CONTRACTS = Table(
    "contract:{version}:{repository}:{commit}",
    MergeContract,
    "what a merge changes for others",
    days=90,
    survives_reset=True,
    counted_as="contracts",
)
# so long nobody asks again, so that many channels with one digest cost one try
OPEN_CONTRACTS = Table(
    "open:{version}:{repository}:{commit}",
    MergeContract,
    "what the head of an open pull request changes for others",
    days=30,
    survives_reset=True,
    counted_as="contracts",
)
UNREAD = Table(
    "unread:{version}:{repository}:{commit}:{listed}",
    MergeContract,
    "a merge that could not be read a moment ago",
    days=5 / 24 / 60,
    survives_reset=True,
)
LEDGERS = Table(
    "deprecations:{repository}",
    DeprecationLedger,
    "what a repository has said that it will remove",
    survives_reset=True,
)


# --- the contract of a merge


def read_merge(app: App, pull: PullRequest, *, must_wait: bool = False) -> MergeContract:
    """Return what a merged pull request changes for others. What could not be read is in ``unread``.

    That is tried again after some minutes. With ``must_wait`` it is tried at once, and a merge that can only be
    read later is an error.

    Raises:
        StoreUnavailable: the store does not answer.
        RateLimited, TimeLimitExceeded: it can be read later, and ``must_wait``.
        ValueError: the pull request is not merged.
    """
    unread = (*_name_merge(pull), pull.files is not None)

    def find() -> MergeContract | None:
        return get_kept_contract(app, pull) or (None if must_wait else app.tables.get(UNREAD, *unread))

    if kept := find():
        return kept
    with app.tables.hold_lease(CONTRACTS, *_name_merge(pull)):
        if kept := find():
            return kept
        contract, is_final = _read_now(app, pull, (RateLimited, TimeLimitExceeded) if must_wait else ())
        if is_final:
            keep_contract(app, pull, contract)
        else:
            app.tables.put(UNREAD, contract, *unread)
    note_deprecations(app, pull.repository, contract)
    return contract


def get_kept_contract(app: App, pull: PullRequest) -> MergeContract | None:
    """Return what is kept of a merge, or None. Nothing is read for it."""
    kept = app.tables.get(CONTRACTS, *_name_merge(pull))
    # a title may change after the merge
    return replace(kept, title=pull.title) if kept else None


def list_kept_contracts(app: App, pulls: Iterable[PullRequest]) -> Sequence[MergeContract | None]:
    """Return what is kept of some merges, in their order, in one call."""
    return app.tables.get_each(CONTRACTS, [_name_merge(pull) for pull in pulls])


def keep_contract(app: App, pull: PullRequest, contract: MergeContract) -> None:
    app.tables.put(CONTRACTS, contract, *_name_merge(pull))


def _name_merge(pull: PullRequest) -> tuple[str, str, str]:
    return EXTRACTION_VERSION, str(pull.repository).lower(), pull.commit


def _read_now(
    app: App, pull: PullRequest, passing: tuple[type[PrdigestError], ...], base: str = ""
) -> tuple[MergeContract, bool]:
    """Return what a merge changes, and whether another attempt would find the same. Raises ``passing`` errors.

    With a ``base`` it is an open pull request: its head is compared with that commit.
    """
    empty = MergeContract(pull.number, pull.commit, app.now() if base else pull.merge_time, pull.title)
    try:
        files = (pull if pull.files is not None else app.pulls.load_files(pull)).files
    except PrdigestError as error:
        if isinstance(error, (StoreUnavailable, *passing)):
            raise
        log.info("%s#%d: the files are not known: %s", pull.repository, pull.number, error)
        files = None
    if files is None:
        unlisted = UnreadFile(name_merge(pull.number), _UNLISTED)
        return replace(empty, unread=(unlisted,)), False
    search = app.sources.source_search
    is_near = search is not None and search.has_commit(pull.repository, pull.commit)
    most = MAX_MIRROR_FILES if is_near else MAX_FILES
    # GitHub lists 3,000 files at most
    telling, is_cut = select_files(files), len(files) < pull.changed_files
    chosen, left_out = telling[:most], telling[most:]
    old_paths = [file.previous_path or file.path for file in chosen if file.status != "added"]
    new_paths = [file.path for file in chosen if file.status != "removed"]
    packages = list_package_files(files)[: most - len(new_paths)]
    # a merge without such files takes no call
    sources, reason = None if chosen else SourceVersions({}, {}), _NO_SOURCE
    if chosen:
        try:
            sources = _read_versions(app, pull, base, old_paths, [*new_paths, *packages])
        except PrdigestError as error:
            if isinstance(error, passing):
                raise
            log.info("%s#%d: its files are not read: %s", pull.repository, pull.number, error)
            reason = str(error).rstrip(".")
    if sources is None:
        return replace(empty, unread=tuple(UnreadFile(file.path, reason) for file in chosen)), False
    pairs = [_pair_versions(file, sources) for file in chosen]
    contract = extract_merge(
        empty,
        [pair for pair in pairs if pair.old or pair.new],
        [file for path in packages if (file := sources.new.get(path)) and not file.problem],
    )
    unread = [
        *contract.unread,
        # what is there on no side was changed by another commit of the pull request
        *(
            UnreadFile(file.path, str(SourceProblem.MISSING))
            for file, pair in zip(chosen, pairs, strict=True)
            if not (pair.old or pair.new)
        ),
        *(UnreadFile(file.path, "the merge changes more files than are read") for file in left_out),
        *([UnreadFile(name_merge(pull.number), "GitHub lists only a part of its files")] if is_cut else []),
    ]
    paths = {path for file in files for path in (file.path, file.previous_path) if path}
    read = [*sources.old.values(), *sources.new.values()]
    is_final = all(file.problem is not SourceProblem.UNAVAILABLE for file in read)
    return replace(contract, files=tuple(sorted(paths)), unread=tuple(dict.fromkeys(unread))), is_final


def _read_versions(
    app: App, pull: PullRequest, base: str, old: Sequence[str], new: Sequence[str]
) -> SourceVersions | None:
    """Return files before and after a merge, or at a base and a head; None in a demo, which has no files."""
    repository, commit = pull.repository, pull.commit
    if not base:
        versions = app.sources.source_versions
        return versions.read_versions(repository, commit, old, new) if versions else None
    files = app.sources.source_files
    if files is None:
        return None
    return SourceVersions(files.read_files(repository, base, old), files.read_files(repository, commit, new))


def _pair_versions(file: ChangedFile, sources: SourceVersions) -> FileVersions:
    old = sources.old.get(file.previous_path or file.path) if file.status != "added" else None
    new = sources.new.get(file.path) if file.status != "removed" else None
    return FileVersions(*(None if each and each.problem is SourceProblem.MISSING else each for each in (old, new)))


# --- open pull requests


def read_open_contracts(
    app: App, source: GitHubOpenPulls, pulls: Sequence[PullRequest], most: int = MAX_OPEN
) -> tuple[list[MergeContract], Coverage]:
    """Return what open pull requests change for others, in their order, and of how many nobody knows it.

    The same head is read once. Up to ``most`` others are read, the first ones. Raises StoreUnavailable.
    """
    names = [_name_merge(pull) for pull in pulls]
    kept = {each.commit: each for each in app.tables.get_each(OPEN_CONTRACTS, names) if each}
    fresh = [pull for pull in pulls if pull.commit not in kept]
    reasons, ending, limits = list[str](), Event(), (RateLimited, TimeLimitExceeded)

    def read(pull: PullRequest) -> None:
        if ending.is_set():
            return
        try:
            changed, base = source.load_changes(pull)
            contract, is_final = _read_now(app, changed, limits, base)
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log.info("%s#%d can't be read: %s", pull.repository, pull.number, error)
            reasons.append(str(error).rstrip("."))
            if isinstance(error, limits):
                ending.set()
            return
        kept[pull.commit] = contract
        if is_final:
            app.tables.put(OPEN_CONTRACTS, contract, *_name_merge(pull))

    try:
        # the rest of the time is for the judging and the post
        with deadlines.bound_work(deadlines.get_seconds_left() * _READING_SHARE):
            for start in range(0, min(len(fresh), most), _OPEN_STEP):
                step = fresh[start : min(start + _OPEN_STEP, most)]
                with DeadlineExecutor(app.settings.prdigest_concurrency, "open pull requests") as crew:
                    crew.map_items(lambda pull: attempt(f"#{pull.number}", read, pull), step)
                note_progress(start + len(step), min(len(fresh), most))
    except TimeLimitExceeded as error:
        reasons.append(str(error).rstrip("."))
    if len(fresh) > most:
        reasons.append(f"{most} at a time")
    # titles change, and two pull requests may have one head
    contracts = [
        replace(contract, number=pull.number, title=pull.title)
        for pull in pulls
        if (contract := kept.get(pull.commit))
    ]
    reason = next(iter(dict.fromkeys(reasons)), READING_FAILED)
    return contracts, Coverage.of(CoveredPart(OPEN_THINGS, len(pulls) - len(contracts), len(pulls), reason))


# --- which files of a merge are read

_PYTHON = frozenset({".py", ".pyi"})
_BUILD_NAMES = frozenset({"pyproject.toml", "setup.py", "setup.cfg", "CMakeLists.txt"})
_BUILD_SUFFIXES = frozenset({".toml", ".cfg", ".txt", ".in", ".cmake", ".dockerfile"})
_IMAGES = ("Dockerfile", "Containerfile")
_CODE = frozenset({".cpp", ".cc", ".cxx", ".cu", ".cuh", ".h", ".hpp", ".hip", ".mm"})
_TEXTS = frozenset({".yaml", ".yml", ".proto", ".sh", ".tpl", ".md"})
# upstream's own users: they say how callers were changed, and define nothing
_USERS = frozenset({"tests", "test", "benchmarks", "examples", "docs", "doc", ".buildkite", ".github"})


def select_files(files: Iterable[ChangedFile]) -> list[ChangedFile]:
    """Return the files that may change something for others, most telling first, then by path."""
    ranked = [(rank, file.path, file) for file in files if (rank := _rank_path(file.path)) is not None]
    return [file for _, _, file in sorted(ranked, key=lambda each: each[:2])]


def list_package_files(files: Iterable[ChangedFile]) -> list[str]:
    """Return the package files above changed Python files, nearest first: moved names are often exported there."""
    changed = {path for file in files for path in (file.path, file.previous_path) if path}
    parents: dict[str, int] = {}
    for path in changed:
        if PurePosixPath(path).suffix in _PYTHON and not _is_user(path):
            for level, folder in enumerate(PurePosixPath(path).parents[:-1]):
                place = str(folder / "__init__.py")
                parents[place] = min(level, parents.get(place, level))
    nearest = sorted(parents.items(), key=lambda each: (each[1], each[0]))
    return [path for path, _ in nearest if path not in changed]


def _rank_path(path: str) -> int | None:
    """Return the rank of a path, less for more; None for what says nothing to others."""
    file = PurePosixPath(path)
    suffix = file.suffix.lower()
    if suffix in _PYTHON:
        return 4 if _is_user(path) else 0
    if file.name in _BUILD_NAMES or suffix in _BUILD_SUFFIXES or file.name.startswith(_IMAGES):
        return 1
    if suffix in _CODE:
        return 2
    return 3 if suffix in _TEXTS and not _is_user(path) else None


def _is_user(path: str) -> bool:
    return not _USERS.isdisjoint(PurePosixPath(path).parts[:-1])


# --- the merges of some days


@dataclass(frozen=True, slots=True)
class ContractList:
    """The contracts of the merges of some days that fit the filters. ``merged`` counts all merges."""

    name: str
    span: Span
    merged: int
    pulls: tuple[PullRequest, ...] = ()
    contracts: CoveredList[MergeContract] = field(default_factory=CoveredList)
    filters: str = ""
    notes: tuple[str, ...] = ()


def list_merges(app: App, repository: Repository, span: Span) -> MergeList:
    return timeline.list_merges(app.day_lists.list_merged, app.settings.prdigest_concurrency, repository, span)


def list_own_merges(app: App, repository: Repository, span: Span) -> MergeList:
    """Return the merges into the default branch, with a note on the others: these change nothing for its users."""
    merged = list_merges(app, repository, span)
    others = [pull for pull in merged.pulls if pull.other_branch]
    own = tuple(pull for pull in merged.pulls if not pull.other_branch)
    return replace(merged, pulls=own, notes=(*merged.notes, *([describe_elsewhere(others)] if others else [])))


def build_contract_list(app: App, request: ContractRequest) -> ContractList:
    merged, filters = list_own_merges(app, request.repository, request.span), request.filters
    candidates, unlisted = [pull for pull in merged.pulls if filters.may_match(pull)], 0
    if filters.paths:
        # only the files tell whether a path fits
        with DeadlineExecutor(app.settings.prdigest_concurrency, "contracts") as crew:
            loaded = crew.map_items(partial(load_files, app), candidates, note_progress)
        candidates = [pull for pull in loaded if filters.is_match(pull)]
        unlisted = sum(pull.files is None for pull in loaded)
    contracts = tuple(_select_paths(contract, filters) for contract in read_contracts(app, candidates))
    coverage = merged.coverage + Coverage.of(CoveredPart("merges", unlisted, unlisted, _UNLISTED))
    return ContractList(
        app.name_repository(request.repository),
        request.span,
        len(merged.pulls),
        tuple(candidates),
        CoveredList(contracts, coverage + cover_contracts(contracts)),
        str(filters),
        merged.notes,
    )


def _select_paths(contract: MergeContract, filters: Filters) -> MergeContract:
    """Return a contract with what concerns the chosen files alone. A merge of which no file is known stays so."""
    changes = tuple(change for change in contract.changes if filters.has_path(change.path))
    unread = tuple(file for file in contract.unread if file.path.startswith("#") or filters.has_path(file.path))
    return replace(contract, changes=changes, unread=unread)


def read_contracts(
    app: App,
    pulls: Iterable[PullRequest],
    *,
    must_wait: bool = False,
    note: Callable[[int, int], None] = note_progress,
) -> tuple[MergeContract, ...]:
    """Return what merges change for others, in their order. Raises as :func:`read_merge`."""

    def read(pull: PullRequest) -> MergeContract:
        name = f"#{pull.number}"
        contract = attempt(name, read_merge, app, pull, must_wait=must_wait)
        unread = (UnreadFile(name, READING_FAILED),)
        return contract or MergeContract(pull.number, pull.commit, pull.merge_time, pull.title, unread=unread)

    with DeadlineExecutor(app.settings.prdigest_concurrency, "contracts") as crew:
        return tuple(crew.map_items(read, pulls, note))


def read_changes(
    app: App, pulls: Sequence[PullRequest], most: int = _MAX_READ
) -> tuple[tuple[MergeContract, ...], Coverage]:
    """Return what merges change for callers, and whether that could be read at all.

    Up to ``most`` are read that were not before, the first ones; the others are named as unread. Where the store
    is away, nothing is kept. What went into another branch than the default one is left out.
    """
    pulls = [pull for pull in pulls if not pull.other_branch]
    kept: dict[int, MergeContract] = {}
    try:
        kept = {pull.number: each for pull in pulls if (each := get_kept_contract(app, pull))}
        fresh = [pull for pull in pulls if pull.number not in kept][:most]
        kept |= {each.number: each for each in read_contracts(app, fresh)}
    except StoreUnavailable as error:
        log.warning("what merges change for others is read without the store: %s", error)
        kept |= _read_unkept(app, pulls[:most])
    except PrdigestError as error:
        log.warning("what breaks callers is not known: %s", error)
        return (), Coverage.of(CoveredPart("what breaks callers", 1, 0, str(error).rstrip(".")))
    reason = "too many for one answer"
    return tuple(
        kept.get(pull.number)
        or MergeContract(
            pull.number, pull.commit, pull.merge_time, unread=(UnreadFile(name_merge(pull.number), reason),)
        )
        for pull in pulls
    ), COMPLETE


def _read_unkept(app: App, pulls: Sequence[PullRequest]) -> dict[int, MergeContract]:
    with DeadlineExecutor(app.settings.prdigest_concurrency, "contracts") as crew:
        read = crew.map_items(lambda pull: _read_now(app, pull, ()), pulls, note_progress)
    return {contract.number: contract for contract, _ in read}


# --- what repositories will remove


def note_deprecations(app: App, repository: Repository, contract: MergeContract) -> None:
    """Note what a merge deprecates and removes. It raises nothing: the merge was read for somebody else."""
    if all(row.kind not in _TELLING for row in contract.changes):
        return
    key = str(repository).lower()
    try:
        if _update_ledger(app, repository, contract) is not None:
            with app.tables.hold_lease(LEDGERS, key):
                # what others noted in the meantime stays
                if ledger := _update_ledger(app, repository, contract):
                    app.tables.put(LEDGERS, ledger, key)
    except StoreUnavailable as error:
        log.warning("%s#%d: its deprecations are not noted: %s", repository, contract.number, error)


def _update_ledger(app: App, repository: Repository, contract: MergeContract) -> DeprecationLedger | None:
    before = load_ledger(app, repository)
    after = update_ledger(before, [contract])
    return None if after.entries == before.entries else after


def load_ledger(app: App, repository: Repository) -> DeprecationLedger:
    """Return the ledger of a repository; an empty one if there is none that can be read."""
    return app.tables.get(LEDGERS, str(repository).lower()) or DeprecationLedger()


def list_deprecations(
    app: App, repository: Repository, profile: Profile | None = None
) -> CoveredList[tuple[DeprecationState, UsedDeprecation]]:
    """Return the deprecations of a repository with their states, and with what a profile uses of them.

    Raises StoreUnavailable.
    """
    return CoveredList(state_deprecations(app, repository, profile), _cover_ledger(app, repository, app.now()))


def state_deprecations(
    app: App, repository: Repository, profile: Profile | None = None
) -> tuple[tuple[DeprecationState, UsedDeprecation], ...]:
    """Return the same for work that reads all of its merges itself."""
    entries = load_ledger(app, repository).entries
    used = find_uses(entries, ProfileIndex(profile)) if profile else map(UsedDeprecation, entries)
    now = app.now()
    releases = _list_releases(app, repository, now - _MAX_AGE)
    return tuple((get_state(each.entry, releases, now), each) for each in used)


def _cover_ledger(app: App, repository: Repository, now: datetime) -> Coverage:
    """Return how many of the last merges that are known were read: what they deprecate is in the ledger."""
    things, window = f"merges of the last {LEDGER_DAYS} days", timedelta(LEDGER_DAYS)
    known = app.merge_history.read_merges(repository, now - 2 * window, now)
    pulls = [pull for pull in known if pull.merge_time >= now - window]
    if not pulls:
        return Coverage.of(CoveredPart(f"the {things}", 1, 0, "no list of them was read yet"))
    kept = list_kept_contracts(app, pulls)
    unread = sum(contract is None or not cover_contracts([contract]).is_complete for contract in kept)
    # nobody listed the days before the first merge that is known
    unlisted = max(0, (known[-1].merge_time - (now - window)).days)
    return Coverage.of(
        CoveredPart(things, unread, len(pulls), "nobody has asked about their code yet"),
        CoveredPart("days", unlisted, LEDGER_DAYS, "my history begins later"),
    )


def list_used_steps(
    app: App, repository: Repository, since: datetime, until: datetime, profile: Profile
) -> tuple[DeprecationStep, ...]:
    """Return what was announced, became due or was removed in a time (aware) of what a profile uses."""
    ledger = load_ledger(app, repository)
    if not ledger.entries:
        return ()
    news: Sequence[DeprecationNews] = list_news(
        ledger, _list_releases(app, repository, min(until, app.now())), since, until
    )
    used = find_uses([step.entry for step in news], ProfileIndex(profile))
    return tuple(DeprecationStep(step, each) for step, each in zip(news, used, strict=True) if each.uses)


def _list_releases(app: App, repository: Repository, until: datetime) -> Sequence[Release]:
    """Return the releases; none if they are unavailable: what was announced and removed is known without."""
    source = app.sources.releases
    try:
        return ReleaseCache(source, app.cached, app.now).list_releases(repository, until) if source else ()
    except PrdigestError as error:
        log.warning("the releases of %s are not known: %s", repository, error)
        return ()
