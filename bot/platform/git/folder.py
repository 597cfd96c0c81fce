"""The folder of one mirror, and what stands beside it: a lock, the last failure, and copies that are not whole.

All of it is the bot's own. A mirror whose settings are not those that the bot wrote is not used.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.platform import deadlines
from bot.platform.private_folders import make_private_folder
from impact.repository import Repository

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
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if left <= 0:
            return False
        deadlines.sleep(min(_PAUSE, left))
        left -= _PAUSE


def _write_file(path: Path, text: str, now: datetime) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, (now.timestamp(), now.timestamp()))


def _read_time(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None
