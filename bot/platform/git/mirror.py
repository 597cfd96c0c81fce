"""Bare mirrors of repositories, made and brought up to date by ``git fetch``."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from bot.errors import MirrorUnavailable, PrdigestError
from bot.platform.git.folder import (
    BRANCH,
    GitFailure,
    GitTimeout,
    MirrorFolder,
    build_isolated_environment,
    hold_file,
    measure_size,
    open_process,
    run_git,
)
from impact.git.commands import MISSING_PROGRAM, build_command
from impact.repository import Repository

log = logging.getLogger(__name__)

# packs after so many fetches are joined, so that an object is looked for in few files
_MAX_PACKS = 20
# seconds between two looks at the size of what is fetched; bytes of error output
_STEP, _MAX_STDERR = 0.5, 1_000_000
# days of history where those of the settings are too much; commits of a repository where none is so new
_FEW_DAYS, _FEW_COMMITS = 14, 50
# git's word where no commit is so new
_NONE_SINCE = "shallow"
_SETTINGS = (
    "core.askPass=",
    "credential.helper=",
    # one file for each fetch, however few objects it brings
    "fetch.unpackLimit=1",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "gc.auto=0",
    "maintenance.auto=false",
    # what git refuses in a repository that it is sent: names such as .git, objects that are not what they say
    "transfer.fsckObjects=true",
    "fetch.fsckObjects=true",
    # mistakes of old programs in authors' lines and modes, which good repositories have (psf/requests 5e6ecdad)
    "fetch.fsck.badTimezone=ignore",
    "fetch.fsck.missingEmail=ignore",
    "fetch.fsck.missingNameBeforeEmail=ignore",
    "fetch.fsck.missingSpaceBeforeDate=ignore",
    "fetch.fsck.zeroPaddedFilemode=ignore",
    # the token goes to the address that it is for, and to no other that the server names
    "http.followRedirects=false",
    "transfer.bundleURI=false",
    # git of a process that was killed ends too, once nothing comes for two minutes
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=120",
    "protocol.version=2",
    "repack.writeBitmaps=false",
)
# words of git's for an access that GitHub refused
_REFUSED = (
    *("Authentication failed", "could not read Username", "could not read Password"),
    *("error: 403", "not found"),
)
_NO_FILES = "--filter=tree:0"
_FETCH = (
    *("--git-dir=.", "fetch", "--quiet", "--force", "--no-tags"),
    *("--no-write-fetch-head", "--no-auto-maintenance"),
)


@dataclass(frozen=True, slots=True)
class MirrorLimits:
    clone_seconds: float = 600.0
    fetch_seconds: float = 60.0
    lock_seconds: float = 60.0  # for which an update waits for another process
    fresh_seconds: float = 60.0  # an update does nothing if the last one is younger
    retry_seconds: float = 600.0  # after a failure
    max_bytes: int = 10_000_000_000  # of one mirror
    days: int = 0  # of history; 0 for all of it

    @classmethod
    def of_days(cls, days: int) -> MirrorLimits:
        """Return the limits of mirrors with the history of so many days, which the bot keeps unasked."""
        return cls(clone_seconds=120.0, max_bytes=300_000_000, days=days) if days else cls()

    @classmethod
    def of_commits(cls) -> MirrorLimits:
        """Return the limits of mirrors without files."""
        return cls(clone_seconds=120.0, max_bytes=300_000_000)


class MirrorTooLarge(GitFailure):
    """A mirror that needs more room than it may have."""


class GitMirror:
    """Copies of the repositories at a web address, in a folder ``root``. Only HTTP and HTTPS are allowed.

    ``read_token`` returns the token for that address, empty for none; it may raise PrdigestError. A copy without
    files has all commits of the default branch and of the tags, and nothing else: some 400 bytes for each.
    """

    def __init__(
        self,
        root: Path,
        web: str,
        read_token: Callable[[], str],
        now: Callable[[], datetime],
        limits: MirrorLimits = MirrorLimits(),
        program: str = "git",
        present_names: Mapping[Repository, Repository] = MappingProxyType({}),
        *,
        has_files: bool = True,
    ) -> None:
        self._present_names = present_names
        self._has_files = has_files
        self._root = root
        self._web = web.rstrip("/")
        self._read_token = read_token
        self._now = now
        self._limits = limits
        self._program = program

    def update(self, repository: Repository) -> None:
        """Bring the mirror of a repository up to date, or make it. Raises MirrorUnavailable with the reason."""
        folder = MirrorFolder(self._root, repository, has_files=self._has_files)
        if self._is_fresh(folder):
            return
        try:
            with hold_file(folder.lock, self._limits.lock_seconds) as is_held:
                if not is_held:
                    raise MirrorUnavailable(f"Another process still updates the mirror of {repository}.")
                if not self._is_fresh(folder):
                    self._update_locked(folder, repository)
        except OSError as error:
            raise MirrorUnavailable(
                f"The mirror of {repository} can't be written ({error.strerror}): check PRDIGEST_MIRROR."
            ) from error

    def _is_fresh(self, folder: MirrorFolder) -> bool:
        updated = folder.read_update_time()
        return self._is_within(updated, self._limits.fresh_seconds) and not folder.find_problem()

    def _is_within(self, instant: datetime | None, seconds: float) -> bool:
        return instant is not None and timedelta(0) <= self._now() - instant < timedelta(seconds=seconds)

    def _update_locked(self, folder: MirrorFolder, repository: Repository) -> None:
        failure = folder.read_failure()
        if failure and self._is_within(failure.failed_at, self._limits.retry_seconds):
            # the next digests don't wait for it
            raise MirrorUnavailable(failure.sentence, is_known=True)
        try:
            folder.remove_leftovers()
            problem = folder.find_problem() or self._find_wear(folder) or self._fetch_update(folder, repository)
            if problem:
                if folder.exists:
                    log.warning("the mirror of %s is made again: %s", repository, problem)
                self._make_mirror(folder, repository)
        except (GitFailure, PrdigestError) as error:
            sentence = _describe_failure(repository, error)
            folder.record_failure(sentence, self._now())
            # whoever can't have git hears of it once
            is_known = str(error) == MISSING_PROGRAM and bool(failure and failure.sentence == sentence)
            raise MirrorUnavailable(sentence, is_known=is_known) from error
        folder.record_update(self._now())

    def _find_wear(self, folder: MirrorFolder) -> str:
        """Return why a mirror without the whole history is made again; empty for one that goes on."""
        days, window = self._limits.days, folder.read_window()
        if window and window[0] != days:
            return "it was made for another number of days"
        if window and self._now() - window[1] > timedelta(days=2 * days):
            return "it reaches back twice as far as it has to"
        return ""

    def _fetch_update(self, folder: MirrorFolder, repository: Repository) -> str:
        """Fetch into the mirror; return its problem if that shows that it is damaged."""
        window = folder.read_window()
        try:
            self._fetch_branch(folder.path, repository, self._limits.fetch_seconds, window and window[1])
        except MirrorTooLarge:
            if window:
                return "it has grown too large"
            raise
        except GitFailure as error:
            is_remote = error.status <= 0 or any(word in error.stderr for word in (*_REFUSED, "unable to access"))
            if is_remote or not self._is_damaged(folder.path):
                raise
            return "it is damaged"
        if len([*folder.path.glob("objects/pack/*.pack")]) > _MAX_PACKS:
            if not self._has_files:
                # it takes seconds, and git joins no packs that lack what they name
                return "it has many packs"
            try:
                self._run_git(folder.path, "--git-dir=.", "repack", "--quiet", "-d", "--geometric=2")
            except GitFailure as error:
                # reading is slower then
                log.info("the packs of a mirror were not joined: %s", error)
        return ""

    def _make_mirror(self, folder: MirrorFolder, repository: Repository) -> None:
        try:
            self._make_copy(folder, repository, self._limits.days)
        except (MirrorTooLarge, GitTimeout) as error:
            if self._limits.days <= _FEW_DAYS:
                raise
            log.info("the mirror of %s is made with %s days of history: %s", repository, _FEW_DAYS, error)
            self._make_copy(folder, repository, _FEW_DAYS)

    def _make_copy(self, folder: MirrorFolder, repository: Repository, days: int) -> None:
        new, since = folder.make_new(), self._now() - timedelta(days=days) if days else None
        try:
            self._run_git(new.parent, "init", "--quiet", "--bare", "--template=", "--object-format=sha1", str(new))
            folder.write_settings(new)
            self._fetch_branch(new, repository, self._limits.clone_seconds, since)
            if since:
                folder.record_window(new, self._limits.days, since)
            folder.put_in_place(new)
        finally:
            folder.remove_leftovers()

    def _fetch_branch(self, path: Path, repository: Repository, seconds: float, since: datetime | None) -> None:
        """Fetch the default branch, with the history since a time or all of it."""
        if since is None:
            self._fetch_commits(path, repository, seconds)
            return
        try:
            self._fetch_commits(path, repository, seconds, f"--shallow-since={since:%Y-%m-%dT%H:%M:%SZ}")
        except GitFailure as error:
            if _NONE_SINCE not in error.stderr:
                raise
            self._fetch_commits(path, repository, seconds, f"--depth={_FEW_COMMITS}")

    def _fetch_commits(self, path: Path, repository: Repository, seconds: float, *options: str) -> None:
        # a redirect from an earlier name is not followed
        url = f"{self._web}/{self._present_names.get(repository, repository)}.git"
        # its name may change; HEAD is always it
        branches, settings = [f"+HEAD:{BRANCH}"], [*_SETTINGS]
        if not self._has_files:
            # a tag that is gone upstream is in no release
            options, branches = (*options, _NO_FILES, "--prune"), [*branches, "+refs/tags/*:refs/tags/*"]
            # said here, git writes neither into the settings
            settings += [f"remote.{url}.promisor=true", f"remote.{url}.partialclonefilter=tree:0"]
        arguments = (*_FETCH, *options, "--end-of-options", url, *branches)
        command = build_command(self._program, path, *arguments, settings=settings)
        environment = build_isolated_environment(path, self._build_access())
        with open_process(command, environment, seconds) as process:
            while not process.has_ended(_STEP):
                self._require_room(path)
                if process.stderr_size > _MAX_STDERR:
                    raise GitFailure("the server sends messages without end")
            process.require_success()
        self._require_room(path)
        kind = "tree" if self._has_files else "commit"
        self._run_git(path, "--git-dir=.", "rev-parse", "--verify", "--quiet", f"{BRANCH}^{{{kind}}}")

    def _require_room(self, path: Path) -> None:
        if measure_size(path) > self._limits.max_bytes:
            raise MirrorTooLarge(f"it is larger than {self._limits.max_bytes / 1e9:g} GB")

    def _build_access(self) -> Mapping[str, str]:
        """Return what may be fetched from, and the token for it: only its user sees a process's environment."""
        access = {"GIT_ALLOW_PROTOCOL": "http:https"}
        token = self._read_token()
        if not token:
            return access
        header = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        return access | {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{self._web}/.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {header}",
        }

    def _is_damaged(self, path: Path) -> bool:
        try:
            objects = ("--objects",) if self._has_files else ()
            self._run_git(path, "--git-dir=.", "rev-list", *objects, "--quiet", BRANCH)
        except GitFailure as error:
            return error.status > 0
        return False

    def _run_git(self, path: Path, *arguments: str) -> None:
        command = build_command(self._program, path, *arguments, settings=_SETTINGS)
        run_git(command, build_isolated_environment(path), self._limits.fetch_seconds, _MAX_STDERR)


def is_own_address(api: str, web: str) -> bool:
    """Return whether API and pages are of one GitHub, so that a token fits both: another API may be a proxy."""
    host, pages = urlsplit(api), urlsplit(web)
    return host.netloc == pages.netloc or host.hostname == f"api.{pages.hostname}"


def _describe_failure(repository: Repository, error: GitFailure | PrdigestError) -> str:
    if isinstance(error, PrdigestError):
        return str(error)
    if str(error) == MISSING_PROGRAM:
        return "The git program is missing: install git, or set PRDIGEST_MIRROR=off."
    if any(word in error.stderr for word in _REFUSED):
        return f"GitHub does not let the token fetch {repository}: give it read access to contents."
    if isinstance(error, MirrorTooLarge):
        advice = "set PRDIGEST_MIRROR_DAYS=0 for its whole history of up to 10 GB, or PRDIGEST_MIRROR=off"
        return f"The mirror of {repository} could not be updated: {error}; {advice}."
    return f"The mirror of {repository} could not be updated: {error}."
