"""Reader of what a merge changes for others: each merge is read once, for all profiles and commands."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from bot.domain.contract.selection import list_package_files, select_files
from bot.domain.errors import PrdigestError, RateLimited, StoreUnavailable, TimeLimitExceeded, UsageError
from bot.domain.keyspace.keys import MERGE_CONTRACT
from bot.domain.pull_requests.models import ChangedFile, PullRequest, Repository
from bot.ports import Cache, SourceVersionReader
from bot.ports.codecs.versioned_json import VersionedJson
from impact.contract.extraction import MergeFacts
from impact.contract.models import FileVersions, MergeContract, UnreadFile
from impact.source.models import SourceFile, SourceProblem, SourceVersions

log = logging.getLogger(__name__)

# files of a merge that GitHub gives in one call; all but one of the 71 merges of three days of vLLM have less
MAX_FILES = 50
# a mirror has no calls to save; the widest merges of vLLM change some 1,200 files
MAX_MIRROR_FILES = 1_500
CONTRACT_JSON = VersionedJson(MergeContract, 1)
_TOO_MANY = "the merge changes more files than are read"
_NOT_LISTED = "its changed files could not be listed"
_NO_SOURCE = "there is no source of files here"

_PASSING = (RateLimited, TimeLimitExceeded)

# returns what a merge changes from both versions of its files, and from package files that did not change
ContractExtractor = Callable[[MergeFacts, Sequence[FileVersions], Sequence[SourceFile]], MergeContract]


class ContractReader:
    """Reader of contract changes: from the cache, or by ``extract`` from files before and after the merge.

    ``load_files`` returns a pull request with its changed files. ``version`` names the extraction: what another
    one made is not used. At most ``max_files`` files are read on each side, with one call to GitHub. ``versions``
    is None where there are no files, as in the demo. ``on_read`` is called with what was not in the cache; it
    raises nothing.
    """

    def __init__(
        self,
        versions: SourceVersionReader | None,
        cache: Cache,
        load_files: Callable[[PullRequest], PullRequest],
        extract: ContractExtractor,
        version: str,
        max_files: int = MAX_FILES,
        on_read: Callable[[Repository, MergeContract], None] = lambda repository, contract: None,
    ) -> None:
        self._versions = versions
        self._cache = cache
        self._load_files = load_files
        self._extract = extract
        self._version = version
        self._max_files = max_files
        self._on_read = on_read

    def read_merge(self, pull: PullRequest, *, must_wait: bool = False) -> MergeContract:
        """Return what a merged pull request changes for others. What could not be read is in ``unread``.

        With ``must_wait``, a merge that can only be read later is an error.

        Raises:
            StoreUnavailable: the cache does not answer.
            RateLimited, TimeLimitExceeded: it can be read later, and ``must_wait``.
            ValueError: the pull request is not merged.
        """
        kept = self.get_cached(pull)
        if kept:
            return kept
        key = self._build_key(pull)
        with self._cache.acquire_lease(key):
            kept = self.get_cached(pull)
            if kept:
                return kept
            contract, is_final = self._read_now(pull, _PASSING if must_wait else ())
            if is_final:
                self.keep(pull, contract)
        self._on_read(pull.repository, contract)
        return contract

    def get_cached(self, pull: PullRequest) -> MergeContract | None:
        """Return what is kept of a merge, or None. Nothing is read for it."""
        text = self._cache.get(self._build_key(pull))
        try:
            kept = None if text is None else CONTRACT_JSON.load(json.loads(text))
        except (ValueError, UsageError, AttributeError):
            return None
        # a title may change after the merge
        return replace(kept, title=pull.title) if kept else None

    def keep(self, pull: PullRequest, contract: MergeContract) -> None:
        """Keep what a merge changes, so that it isn't read. Raises StoreUnavailable."""
        self._cache.put(self._build_key(pull), json.dumps(CONTRACT_JSON.dump(contract)), MERGE_CONTRACT.lifetime)

    def _read_now(self, pull: PullRequest, passing: tuple[type[PrdigestError], ...]) -> tuple[MergeContract, bool]:
        """Return what a merge changes, and whether another attempt would find the same.

        Errors that are ``passing`` are raised.
        """
        try:
            files = (pull if pull.files is not None else self._load_files(pull)).files
        except PrdigestError as error:
            if isinstance(error, (StoreUnavailable, *passing)):
                raise
            log.info("%s#%d: the files are not known: %s", pull.repository, pull.number, error)
            files = None
        if files is None:
            return _build_unread(pull, [UnreadFile(f"#{pull.number}", _NOT_LISTED)]), False
        plan = _plan_reading(files, self._max_files)
        if self._versions is None and plan.files:
            return _build_unread(pull, [UnreadFile(file.path, _NO_SOURCE) for file in plan.files]), False
        try:
            sources = self._read_sources(pull, plan)
        except PrdigestError as error:
            if isinstance(error, passing):
                raise
            log.info("%s#%d: its files are not read: %s", pull.repository, pull.number, error)
            reason = str(SourceProblem.UNAVAILABLE)
            return _build_unread(pull, [UnreadFile(file.path, reason) for file in plan.files]), False
        return self._extract_changes(pull, plan, sources)

    def _read_sources(self, pull: PullRequest, plan: _ReadingPlan) -> SourceVersions:
        """Return the files of both sides; a merge without such files takes no call."""
        if self._versions is None or not plan.files:
            return SourceVersions({}, {})
        new = [*plan.new_paths, *plan.packages]
        return self._versions.read_versions(pull.repository, pull.commit, plan.old_paths, new)

    def _extract_changes(
        self, pull: PullRequest, plan: _ReadingPlan, sources: SourceVersions
    ) -> tuple[MergeContract, bool]:
        pairs = [_pair_versions(file, sources) for file in plan.files]
        packages = [file for path in plan.packages if (file := sources.new.get(path)) and not file.problem]
        facts = MergeFacts(pull.number, pull.commit, pull.merge_time, pull.title)
        contract = self._extract(facts, [pair for pair in pairs if pair.old or pair.new], packages)
        # what is there on no side was changed by another commit of the pull request
        gone = [file.path for file, pair in zip(plan.files, pairs, strict=True) if not (pair.old or pair.new)]
        unread = [
            *contract.unread,
            *(UnreadFile(path, str(SourceProblem.MISSING)) for path in gone),
            *(UnreadFile(file.path, _TOO_MANY) for file in plan.left_out),
        ]
        every = [*sources.old.values(), *sources.new.values()]
        is_final = all(file.problem is not SourceProblem.UNAVAILABLE for file in every)
        return replace(contract, files=plan.paths, unread=tuple(dict.fromkeys(unread))), is_final

    def _build_key(self, pull: PullRequest) -> str:
        return MERGE_CONTRACT.build_key(self._version, str(pull.repository).lower(), pull.commit)


@dataclass(frozen=True, slots=True)
class _ReadingPlan:
    """What is read of a merge: changed files, those that are left out, and package files that did not change.

    ``paths`` are all changed paths on both sides.
    """

    files: tuple[ChangedFile, ...]
    left_out: tuple[ChangedFile, ...]
    packages: tuple[str, ...]
    paths: tuple[str, ...]

    @property
    def new_paths(self) -> list[str]:
        """The paths after the merge."""
        return [file.path for file in self.files if file.status != "removed"]

    @property
    def old_paths(self) -> list[str]:
        """The paths before the merge."""
        return [file.previous_path or file.path for file in self.files if file.status != "added"]


def _plan_reading(files: Iterable[ChangedFile], most: int) -> _ReadingPlan:
    listed = tuple(files)
    telling = select_files(listed)
    chosen = tuple(telling[:most])
    room = most - sum(file.status != "removed" for file in chosen)
    paths = {path for file in listed for path in (file.path, file.previous_path) if path}
    return _ReadingPlan(
        chosen, tuple(telling[most:]), tuple(list_package_files(listed)[:room]), tuple(sorted(paths))
    )


def _pair_versions(file: ChangedFile, sources: SourceVersions) -> FileVersions:
    """Return a file on both sides, None where there is none."""
    old = sources.old.get(file.previous_path or file.path) if file.status != "added" else None
    new = sources.new.get(file.path) if file.status != "removed" else None
    return FileVersions(_drop_missing(old), _drop_missing(new))


def _drop_missing(file: SourceFile | None) -> SourceFile | None:
    return None if file is None or file.problem is SourceProblem.MISSING else file


def _build_unread(pull: PullRequest, unread: Iterable[UnreadFile]) -> MergeContract:
    return MergeContract(pull.number, pull.commit, pull.merge_time, pull.title, unread=tuple(unread))
