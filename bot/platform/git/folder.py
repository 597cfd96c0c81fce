"""Git as a process, the folder of mirrors and their check."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from bot.platform import deadlines
from bot.platform.finding import Finding
from bot.platform.private_folders import make_private_folder, try_lock
from bot.redaction import redact_text
from bot.text import format_duration
from impact.checker.program import PACKAGE, VERSION, CheckerFailed, find_program
from impact.git.commands import MISSING_PROGRAM, build_command, build_environment
from impact.repository import Repository
from impact.text.strings import collapse_lines, truncate_text

# --- processes

# No settings of this user or machine count for them: they may rewrite addresses, run helpers and ask for
# passwords.

# bytes of error output that are read; characters of it in a sentence
_MAX_STDERR, _MAX_DETAIL = 20_000, 200
# seconds for the end of a process that closed its output, and of one that was killed
_GRACE_SECONDS = 5.0
# seconds between two looks at a process
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.05
# words of git for objects and files that it can't read
_DAMAGE = (
    *("Could not read", "bad object", "bad signature", "bad tree object", "corrupt", "does not match index"),
    *("inflate", "missing blob object", "not a git repository", "not a tree object", "unable to read"),
)

# where the HTTP client of the rest of the bot finds the certificates of a network of one's own
_CERTIFICATES = ("GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_ISOLATION = {
    "GIT_ASKPASS": "",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    # no .netrc
    "HOME": os.devnull,
}


class GitFailure(Exception):
    """A ``git`` that failed, was missing, or was ended. The message is a clause that names the reason.

    ``stderr`` is what it wrote, without credentials, ``status`` the exit status; 0 if it did not come to an end.
    """

    def __init__(self, reason: str, stderr: str = "", status: int = 0) -> None:
        super().__init__(reason)
        self.stderr = stderr
        self.status = status

    @property
    def hints_at_damage(self) -> bool:
        return any(word in self.stderr for word in _DAMAGE)


class GitTimeout(GitFailure):
    """A ``git`` that was ended at its time limit."""


class GitProcess:
    """A running ``git``, which is killed with all that it started once ``seconds`` are over."""

    def __init__(self, process: subprocess.Popen[bytes], complaints: IO[bytes], seconds: float) -> None:
        self._process = process
        self._complaints = complaints
        self._seconds = seconds
        self._lock = threading.Lock()
        self.is_killed = self._is_over = False

    @property
    def output(self) -> IO[bytes]:
        assert self._process.stdout is not None  # noqa: S101 (opened with a pipe)
        return self._process.stdout

    @property
    def stderr_size(self) -> int:
        return os.fstat(self._complaints.fileno()).st_size

    def kill(self) -> None:
        with self._lock:
            if not self._is_over:
                self.is_killed = True
                # the number of the group stays taken until the process is waited for, which needs the lock
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def has_ended(self, seconds: float) -> bool:
        end, pause = time.monotonic() + seconds, _SHORTEST_PAUSE
        while True:
            with self._lock:
                self._is_over = self._is_over or self._process.poll() is not None
            if self._is_over or time.monotonic() >= end:
                return self._is_over
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def require_success(self) -> None:
        """Wait for the end. Raises ProcessShutdown, and GitFailure if git failed or was ended at the limit."""
        if not self.has_ended(_GRACE_SECONDS):
            self.kill()
            self.has_ended(_GRACE_SECONDS)
        deadlines.get_limit().ending.raise_if_triggered()
        if self.is_killed:
            raise GitTimeout(f"it took longer than {self._seconds:.3g} seconds")
        if status := self._process.returncode:
            stderr = self.read_stderr()
            detail = truncate_text(collapse_lines(stderr), _MAX_DETAIL).rstrip(".")
            raise GitFailure(detail or f"git ended with status {status}", stderr, status)

    def read_stderr(self) -> str:
        self._complaints.seek(0)
        return redact_text(self._complaints.read(_MAX_STDERR).decode("utf-8", "replace"))


@contextmanager
def open_process(
    command: Sequence[str | bytes], environment: Mapping[str, str], seconds: float, lines: bytes = b""
) -> Iterator[GitProcess]:
    """Start ``git``, which ends with the block, with ``lines`` as input. Raises GitFailure and ProcessShutdown."""
    seconds = min(seconds, deadlines.get_seconds_left())
    if seconds <= 0:
        raise GitFailure("no time is left for it")
    # files instead of pipes, so that git and this process never wait for each other
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as complaints:
        stdin.write(lines)
        stdin.seek(0)
        try:
            started = subprocess.Popen(  # noqa: S603 (arguments of ours, and no shell)
                command,
                env=environment,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
            )
        except OSError as error:
            raise GitFailure(MISSING_PROGRAM) from error
        with started:
            process = GitProcess(started, complaints, seconds)
            timer = threading.Timer(seconds, process.kill)
            timer.daemon = True
            try:
                with deadlines.get_limit().ending.call_on_trigger(process.kill):
                    timer.start()
                    yield process
            finally:
                timer.cancel()
                process.kill()
                process.has_ended(_GRACE_SECONDS)


def run_git(
    command: Sequence[str | bytes], environment: Mapping[str, str], seconds: float, max_bytes: int
) -> bytes:
    """Return the output of ``git``. Raises ProcessShutdown, and GitFailure, also for too much output."""
    with open_process(command, environment, seconds) as process:
        output = process.output.read(max_bytes + 1)
        if len(output) > max_bytes:
            raise GitFailure(f"it wrote more than {max_bytes:,} bytes")
        process.require_success()
        return output


def build_isolated_environment(folder: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a repository of the bot's own. ``more`` wins over the rest."""
    certificates = next((os.environ[name] for name in _CERTIFICATES if os.environ.get(name)), "")
    trust = {"GIT_SSL_CAINFO": certificates} if certificates else {}
    return {**build_environment(folder), **_ISOLATION, **trust, **(more or {})}


# --- the folder

# the branch of a mirror: the default branch, whatever its name is
BRANCH = "refs/heads/default"
CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
HEAD = f"ref: {BRANCH}\n".encode()
# files with which a repository takes objects, settings or attributes from somewhere else, or hides its history
_FOREIGN_FILES = (
    *("commondir", "config.worktree", "info/attributes", "info/grafts"),
    *("objects/info/alternates", "objects/info/http-alternates"),
)
# a history that ends somewhere is the bot's own where the second file says since when
_SHALLOW, _SINCE = "shallow", "prdigest-since"
_UPDATED, _DAMAGED = "prdigest-updated", "prdigest-damaged"
# what a fetch that was killed leaves
_LEFTOVERS = ("*.lock", "refs/heads/*.lock", "objects/pack/tmp_*", "objects/pack/*.keep", "objects/tmp_*")
# seconds between two tries to take the lock; bytes of a failure's sentence
_PAUSE, _MAX_SENTENCE = 0.2, 1_000


@dataclass(frozen=True, slots=True)
class MirrorFailure:
    """The last failure to update a mirror: a sentence, and when (UTC)."""

    sentence: str
    failed_at: datetime


class MirrorFolder:
    """The mirror of a repository in ``root``, at ``owner/name.git`` in lower case, as GitHub ignores case.

    What stands beside it has ``~`` in its name, which no repository has; so has a mirror without files.
    """

    def __init__(self, root: Path, repository: Repository, *, has_files: bool = True) -> None:
        # raises for a name that would lead out of the folder
        checked = Repository.parse(str(repository))
        self._owner = root.absolute() / checked.owner.lower()
        self._name = checked.name.lower() + ("" if has_files else "~commits")
        self.path = self._owner / f"{self._name}.git"
        self._failure = self._owner / f"{self._name}~failed"
        self.lock = self._owner / f"{self._name}~lock"

    @property
    def exists(self) -> bool:
        return os.path.lexists(self.path)

    def find_problem(self) -> str:
        """Return why the mirror can't be used, as a clause; empty if it can, as far as its files show."""
        if not self.exists:
            return "there is no mirror yet"
        if self.path.is_symlink() or not self.path.is_dir():
            return "it is not a folder"
        if (self.path / _DAMAGED).exists():
            return "it is damaged"
        foreign = _FOREIGN_FILES if self.read_window() else (*_FOREIGN_FILES, _SHALLOW)
        if any(os.path.lexists(self.path / name) for name in foreign):
            return "it has settings that the bot did not write"
        is_ours = _has_content(self.path / "config", CONFIG) and _has_content(self.path / "HEAD", HEAD)
        return "" if is_ours else "it has settings that the bot did not write"

    def make_new(self) -> Path:
        """Return a new empty folder beside the mirror, for a copy that is not whole. The lock must be held."""
        return Path(tempfile.mkdtemp(prefix=f"{self._name}~new-", dir=self._owner))

    def write_settings(self, new: Path) -> None:
        """Write the settings of the bot into a repository that ``git init`` made."""
        (new / "config").write_bytes(CONFIG)
        (new / "HEAD").write_bytes(HEAD)

    def record_window(self, new: Path, days: int, since: datetime) -> None:
        """Record in a new mirror that it is to have the history of so many days, and since when it has that."""
        _write_file(new / _SINCE, str(days), since)

    def read_window(self) -> tuple[int, datetime] | None:
        """Return the days of history that the mirror was made for, and since when it has it; None for all."""
        since = _read_time(self.path / _SINCE)
        if since is None:
            return None
        with suppress(OSError, ValueError), (self.path / _SINCE).open("rb") as file:
            return int(file.read(_MAX_SENTENCE)), since
        return None

    def put_in_place(self, new: Path) -> None:
        """Make a whole copy the mirror. What was there before is a leftover then. The lock must be held."""
        if self.exists:
            self.path.rename(self.make_new() / "old")
        new.rename(self.path)

    def remove_leftovers(self) -> None:
        """Remove what processes left that were killed. The lock must be held."""
        for folder in self._owner.glob(f"{self._name}~new-*"):
            shutil.rmtree(folder, ignore_errors=True)
        if not self.find_problem():
            for file in (each for pattern in _LEFTOVERS for each in self.path.glob(pattern)):
                file.unlink(missing_ok=True)

    def record_update(self, now: datetime) -> None:
        _write_file(self.path / _UPDATED, "", now)
        self._failure.unlink(missing_ok=True)

    def record_failure(self, sentence: str, now: datetime) -> None:
        _write_file(self._failure, sentence, now)

    def record_damage(self) -> None:
        """Record that git can't read the mirror: it is not used any more, and the next update makes it again."""
        with suppress(OSError):
            (self.path / _DAMAGED).touch()

    def read_update_time(self) -> datetime | None:
        """Return when the mirror was last up to date (UTC); None if it never was."""
        return _read_time(self.path / _UPDATED)

    def read_failure(self) -> MirrorFailure | None:
        """Return the failure of the last update; None if it succeeded, or there was none."""
        failed_at = _read_time(self._failure)
        if failed_at is None:
            return None
        with suppress(OSError), self._failure.open("rb") as file:
            return MirrorFailure(file.read(_MAX_SENTENCE).decode("utf-8", "replace"), failed_at)
        return None


@contextmanager
def hold_file(file: Path, seconds: float) -> Iterator[bool]:
    """Hold a file as a lock while the block runs; yields whether that was possible within ``seconds``.

    The system takes the lock from a process that dies. Raises OSError if the folder can't be written, and
    ProcessShutdown.
    """
    make_private_folder(file.parent)
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        yield _try_lock(handle, seconds)
    finally:
        os.close(handle)


def measure_size(folder: Path) -> int:
    """Return the bytes of all files below a folder. Files may come and go meanwhile."""
    total = 0
    for inside, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(inside, name)).st_size  # noqa: PTH118 (faster for many files)
    return total


def _has_content(file: Path, content: bytes) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(content) + 1) == content
    except OSError:
        return False


def _try_lock(handle: int, seconds: float) -> bool:
    left = min(seconds, deadlines.get_seconds_left())
    while not (is_locked := try_lock(handle)) and left > 0:
        deadlines.sleep(min(_PAUSE, left))
        left -= _PAUSE
    return is_locked


def _write_file(path: Path, text: str, now: datetime) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, (now.timestamp(), now.timestamp()))


def _read_time(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None


# --- its check

GIT = "Git"
# git takes settings from the environment since 2.31, and joins packs by size since 2.33
_OLDEST_VERSION = (2, 33)
# a digest a day updates it, but for weekends
_STALE_AFTER = timedelta(days=4)
# seconds and bytes of one command
_SECONDS, _MAX_OUTPUT = 5.0, 1_000
_VERSION = re.compile(rb"git version (\d{1,4})\.(\d{1,4})")


def check_mirror(
    root: Path, repositories: Sequence[Repository], now: Callable[[], datetime], program: str = "git"
) -> Iterator[Finding]:
    yield check_version(_read_version(program))
    yield _check_checker()
    for repository in repositories:
        yield _check_folder(MirrorFolder(root, repository), f"Mirror {repository}", now())


def check_downstreams(
    root: Path, repositories: Sequence[Repository], now: Callable[[], datetime]
) -> Iterator[Finding]:
    """Yield the findings about mirrors of others, of which none has to be there."""
    for repository in repositories:
        folder, name = MirrorFolder(root, repository), f"Downstream {repository}"
        failure = folder.read_failure()
        if failure and failure.sentence:
            # no token is used for it
            advice = "It has to be public, on this GitHub, and of up to 300 MB in some months: the log says more."
            yield Finding.build_note(name, "the last update failed", advice)
        elif folder.exists:
            yield _check_folder(folder, name, now())
        else:
            yield Finding.build_note(name, "not read yet: that begins some hours after the first digest")


def _read_version(program: str) -> tuple[int, int] | None:
    command = build_command(program, Path.cwd(), "--version")
    try:
        output = run_git(command, build_isolated_environment(Path.cwd()), _SECONDS, _MAX_OUTPUT)
    except GitFailure:
        return None
    match = _VERSION.match(output)
    return (int(match[1]), int(match[2])) if match else None


def check_version(version: tuple[int, int] | None) -> Finding:
    if version is None:
        # the bot works without
        missing = "missing: files are read from GitHub, and only changed ones are searched"
        return Finding.build_note(GIT, missing, "Install git, or set PRDIGEST_MIRROR=off.")
    shown, oldest = (".".join(map(str, each)) for each in (version, _OLDEST_VERSION))
    if version < _OLDEST_VERSION:
        return Finding.build_failure(GIT, shown, f"Install git {oldest} or later, or set PRDIGEST_MIRROR=off.")
    return Finding.build_success(GIT, shown)


def _check_checker() -> Finding:
    """Return whether the second judge of what touches a team's code is there: without it, rules judge alone."""
    try:
        find_program()
    except CheckerFailed as error:
        return Finding.build_note("Type checker", f"not used: {error}")
    return Finding.build_success("Type checker", f"{PACKAGE} {VERSION}")


def _check_folder(folder: MirrorFolder, name: str, now: datetime) -> Finding:
    """Return the finding about a mirror. None of its problems stops the bot: it reads from GitHub then."""
    failure, updated_at, size = folder.read_failure(), folder.read_update_time(), measure_size(folder.path)
    age = "never updated" if updated_at is None else f"updated {format_duration(now - updated_at)} ago"
    shown_size = f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
    window = folder.read_window()
    history = f", history since {window[1]:%-d %B %Y}" if window else ""
    facts = f"{shown_size}{history}, {age}" if folder.exists else "none yet"
    if failure and failure.sentence:
        return Finding.build_failure(name, f"{facts}; the last update failed", failure.sentence)
    if not folder.exists:
        return Finding.build_note(name, "none yet: the next digest creates it")
    if problem := folder.find_problem():
        advice = "Wait for the next digest: it creates the mirror again."
        return Finding.build_note(name, f"{facts}; not used because {problem}", advice)
    if updated_at is None or now - updated_at > _STALE_AFTER:
        return Finding.build_note(name, facts, "Check that digests are posted: each one updates the mirror.")
    return Finding.build_success(name, facts)
