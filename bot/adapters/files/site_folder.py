"""The folder of a static site: it is the bot's own by a marker file, and its files are replaced as a whole."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from bot.domain.errors import UsageError

# a new file until it is complete. A killed run leaves it, and the next one writes over it
_PART_NAME = ".prdigest-part"
_PATH_PATTERN = re.compile(r"(?:[a-z]+/)?(?!\.+\Z)[A-Za-z0-9.-]+")
_FILE_MODE = 0o666  # less the umask: the files of a site are for a web server


class LocalSiteFolder:
    """``SiteFolder`` on this machine. :func:`open_site_folder` makes one."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read_file(self, path: str) -> bytes | None:
        """Return the content of a file, None if there is none."""
        try:
            descriptor = os.open(self._find(path), os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _describe_failure(self._root / path, "read", error) from error
        with os.fdopen(descriptor, "rb") as file:
            return file.read()

    def write_file(self, path: str, content: bytes) -> bool:
        """Write a file unless it has this content; return whether it was written."""
        target = self._find(path)
        if not target.is_symlink() and self.read_file(path) == content:
            return False
        try:
            target.parent.mkdir(exist_ok=True)
            self._replace(target, content)
        except OSError as error:
            raise _describe_failure(target, "written", error) from error
        return True

    def list_names(self, folder: str) -> Sequence[str]:
        """List the names in a folder, sorted; none if it is missing."""
        try:
            return sorted(each.name for each in self._find(f"{folder}/x").parent.iterdir())
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise _describe_failure(self._root / folder, "read", error) from error

    def remove_part(self) -> None:
        """Remove what a killed run left of a file. Raises OSError."""
        (self._root / _PART_NAME).unlink(missing_ok=True)

    def _replace(self, target: Path, content: bytes) -> None:
        """Put a complete file in place of another. Raises OSError."""
        part = self._root / _PART_NAME
        # a link that somebody put here would lead elsewhere
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _FILE_MODE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        part.replace(target)

    def _find(self, path: str) -> Path:
        """Return where a path is. Raises UsageError if it would lead out of the folder."""
        if not _PATH_PATTERN.fullmatch(path) or ".." in path:
            raise UsageError(f"{path!r} is no file of a site.")
        target = self._root / path
        if target.parent.is_symlink() and target.parent != self._root:
            raise UsageError(f"{target.parent} is a link to another folder: remove the link.")
        return target


@contextmanager
def open_site_folder(root: Path, marker: str) -> Iterator[LocalSiteFolder]:
    """Yield the folder of a site, for this process alone. A missing or empty folder becomes one.

    ``marker`` is the name of the file that the bot's own folder has. The caller writes it first.

    Raises:
        UsageError: the folder holds something else, another process writes into it, or it can't be written.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _describe_failure(root, "written", error) from error
    try:
        _lock_folder(descriptor, root)
        names = {each.name for each in root.iterdir()}
        if marker not in names and names - {_PART_NAME}:
            raise UsageError(
                f"{root} holds other files: choose an empty folder, or one that `prdigest site` made."
            )
        folder = LocalSiteFolder(root)
        yield folder
        with suppress(OSError):
            folder.remove_part()
    finally:
        os.close(descriptor)


def _lock_folder(descriptor: int, root: Path) -> None:
    """Lock a folder until its descriptor is closed, as at the end of a killed process. Raises UsageError."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise UsageError(f"Another process writes into {root}: wait until it is done.") from error


def _describe_failure(path: Path, verb: str, error: OSError) -> UsageError:
    return UsageError(f"{path} can't be {verb} ({error.strerror}): choose another folder, or free it.")
