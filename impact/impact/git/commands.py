"""``git`` as a process that reads what others made and starts no program of theirs; contents by one that stays."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from impact.errors import UsageError
from impact.source.models import MAX_SOURCE_BYTES, BlobVersion, SourceFile, SourceProblem
from impact.source.reading import build_source_file

MISSING_PROGRAM = "the git program is missing"
# git knows this object always
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
# a repository may come from somebody else: its settings must start no program; nothing is fetched or locked
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SETTINGS = (
    "advice.graftFileDeprecated=false",
    # git 2.43 to 2.45 took the attributes of a bare repository from its last commit
    f"attr.tree={_EMPTY_TREE}",
    "core.attributesFile=/dev/null",
    "core.bigFileThreshold=512m",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    # each holds a whole file in memory, however large
    "grep.threads=2",
    "log.showSignature=false",
)
# characters of texts that are kept: a tree of 3,000 files has some 40 million
_MAX_KEPT = 40_000_000
# bytes of one read, and of the line before a content
_PIECE, _MAX_HEADER = 1 << 16, 300
# processes that may end before a content came; a damaged clone ends each
_MAX_STARTS = 20
# of the wait for one piece, and between two looks at whether it has to end
_MAX_SECONDS, LOOK_SECONDS = 30.0, 0.5


def build_command(program: str, folder: Path, *arguments: str, settings: Iterable[str] = ()) -> list[str]:
    """Return the command line of ``git`` in a folder. ``settings`` are ``name=value`` and hold no secret."""
    options = [part for each in (*_SETTINGS, *settings) for part in ("-c", each)]
    return [program, "--no-pager", *options, "-C", str(folder), *arguments]


def build_environment(folder: Path) -> dict[str, str]:
    """Return the environment for ``git`` in a folder, without variables of git's own."""
    # git's variables could select another repository or start programs; a folder inside a clone is not a clone
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, **_ENVIRONMENT, "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}


def start_git(folder: Path, *arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
    """Start ``git`` in a folder, with streams as of ``Popen``. Raises UsageError if there is no git program."""
    try:
        return subprocess.Popen(  # noqa: S603 (arguments of ours, and no shell)
            build_command("git", folder, *arguments),
            env=build_environment(folder),
            stdout=subprocess.PIPE,
            **streams,
        )
    except OSError as error:
        raise UsageError("The git program is missing: install git to read the clone.") from error


def read_piece(output: IO[bytes], check: Callable[[], None], seconds: float = float("inf")) -> bytes:
    """Return what a process writes next, empty at its end. Raises TimeoutError, and what ``check`` raises."""
    end = time.monotonic() + seconds
    # select.select refuses a descriptor above 1,023, which a busy web process reaches
    poller = select.poll()
    poller.register(output, select.POLLIN)
    while not poller.poll(LOOK_SECONDS * 1_000):
        check()
        if time.monotonic() > end:
            raise TimeoutError
    return os.read(output.fileno(), _PIECE)


class BlobReader:
    """Reader of contents of the clone in a folder by their hashes, through one process that stays open.

    ``check`` is called while it waits, and ends that by an ImpactError.
    """

    def __init__(self, path: Path, check: Callable[[], None] = lambda: None) -> None:
        self._path, self._check = path, check
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._starts = 0
        self._kept: OrderedDict[str, SourceFile] = OrderedDict()
        self._size = 0

    def read_file(self, version: BlobVersion) -> SourceFile:
        """Return a file with text or problem; credentials in it stay. Raises UsageError without git."""
        known = self._kept.get(version.blob)
        if known is None:
            known = self._kept[version.blob] = self._load(version)
            self._size += len(known.text)
            while self._size > _MAX_KEPT:
                self._size -= len(self._kept.popitem(last=False)[1].text)
        else:
            self._kept.move_to_end(version.blob)
        return known if known.path == version.path else replace(known, path=version.path)

    def close(self) -> None:
        process, self._process, self._rest = self._process, None, b""
        if process:
            process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_MAX_SECONDS)
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    _require_stream(stream).close()

    def _load(self, version: BlobVersion) -> SourceFile:
        unavailable = SourceFile(version.path, problem=SourceProblem.UNAVAILABLE)
        if not version.blob.isalnum() or self._starts >= _MAX_STARTS:
            return unavailable
        try:
            return self._request(version) or unavailable
        except OSError:
            # it ended, or took too long
            self.close()
            return unavailable
        except BaseException:
            # in the middle of a content
            self.close()
            raise

    def _request(self, version: BlobVersion) -> SourceFile | None:
        """Return a file from the process; None if git has no such content. Raises OSError if the process fails."""
        stdin = _require_stream(self._start().stdin)
        stdin.write(f"{version.blob}\n".encode())
        stdin.flush()
        while b"\n" not in self._rest:
            if len(self._rest) > _MAX_HEADER:
                raise OSError
            self._rest += self._read_piece()
        header, _, self._rest = self._rest.partition(b"\n")
        _, kind, size = [*header.split(), b"", b""][:3]
        if not size.isdigit():
            return None
        # what is too large goes by without being kept
        data = self._read_bytes(int(size) + 1, MAX_SOURCE_BYTES + 1)
        return None if kind != b"blob" else build_source_file(version.path, data[: int(size)])

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._starts += 1
            arguments, silent = ("cat-file", "--batch"), subprocess.DEVNULL
            self._process = start_git(self._path, *arguments, stdin=subprocess.PIPE, stderr=silent)
        return self._process

    def _read_bytes(self, count: int, most: int) -> bytes:
        """Read ``count`` bytes and return the first ``most`` of them."""
        kept = bytearray()
        while count:
            piece = self._rest or self._read_piece()
            piece, self._rest = piece[:count], piece[count:]
            count -= len(piece)
            kept += piece[: most - len(kept)]
        return bytes(kept)

    def _read_piece(self) -> bytes:
        """Return what the process writes next. Raises OSError at its end, and where it takes too long."""
        piece = read_piece(_require_stream(self._start().stdout), self._check, _MAX_SECONDS)
        if not piece:
            raise OSError
        return piece


def _require_stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101 (opened with a pipe)
    return stream
