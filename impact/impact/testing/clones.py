"""Small git repositories, written by ``git fast-import``: no checkout, one process for many commits."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.metadata import distributions
from pathlib import Path
from typing import IO

import pytest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="the git program is not here")

needs_checker = pytest.mark.skipif(
    not list(distributions(name="pyrefly")), reason="the type checker has no wheel here"
)

BEGIN = datetime(2025, 1, 6, 12, 0, tzinfo=UTC)
_KEPT = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
# nothing of who runs the tests
ENVIRONMENT = {**_KEPT, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C"}

# paths that are hard to write down
ODD = ["a b.py", 'it\'s "so".py', "two\nlines.py", "tab\tbed.py", "-rf.py", ":colon.py", "ünï.py", "deep/ /x.py"]


def git(folder: Path, *arguments: str, standard_input: IO[bytes] | None = None) -> str:
    """What a git command prints; ``standard_input`` is its standard input."""
    return git_bytes(folder, *arguments, standard_input=standard_input).decode("utf-8", "replace").strip()


def git_bytes(folder: Path, *arguments: str, standard_input: IO[bytes] | None = None) -> bytes:
    line = ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
    return subprocess.run(line, env=ENVIRONMENT, stdin=standard_input, capture_output=True, check=True).stdout


def lines(count: int, word: str = "line") -> bytes:
    return "".join(f"{word} {number}\n" for number in range(count)).encode()


class Builder:
    """Adds commits to ``main``; each is an hour after the one before it unless it says when."""

    def __init__(self, stream: IO[bytes], answers: IO[bytes]) -> None:
        self._stream = stream
        self._answers = answers
        self._marks = 0
        self._tip = 0
        self.now = BEGIN

    def commit(
        self,
        message: str | bytes,
        files: Mapping[str, bytes | None] | Mapping[bytes, bytes | None] | None = None,
        *,
        at: datetime | None = None,
        moved: Mapping[str, str] | None = None,
        merged: Sequence[int] = (),
        branch: str = "main",
        start: int | None = None,
        modes: Mapping[str, str] | None = None,
    ) -> int:
        """A commit that writes files (None deletes one); gives its mark. ``merged`` are its further parents.

        ``modes`` are those of files that are not plain; the content of a submodule is the id of a commit.
        """
        self.now = at or self.now + timedelta(hours=1)
        self._marks += 1
        who = f"Ada <ada@example.org> {int(self.now.timestamp())} +0000"
        self._say(f"commit refs/heads/{branch}\nmark :{self._marks}\nauthor {who}\ncommitter {who}")
        self._data(message if isinstance(message, bytes) else message.encode())
        if start is not None or (branch == "main" and self._tip):
            self._say(f"from :{start or self._tip}")
        for mark in merged:
            self._say(f"merge :{mark}")
        for old, new in (moved or {}).items():
            self._say(f"R {_quote_path(old)} {_quote_path(new)}")
        for path, content in (files or {}).items():
            self._file(path, content, (modes or {}).get(str(path), "100644"))
        self._tip = self._marks if branch == "main" else self._tip
        return self._marks

    def sha(self, mark: int) -> str:
        self._say(f"get-mark :{mark}")
        self._stream.flush()
        return self._answers.readline().decode().strip()

    def _file(self, path: str | bytes, content: bytes | None, mode: str) -> None:
        if content is None:
            self._say(f"D {_quote_path(path)}")
            return
        if mode == "160000":
            self._say(f"M {mode} {content.decode()} {_quote_path(path)}")
            return
        self._say(f"M {mode} inline {_quote_path(path)}")
        self._data(content)

    def _data(self, content: bytes) -> None:
        self._say(f"data {len(content)}")
        self._stream.write(content + b"\n")

    def _say(self, line: str) -> None:
        self._stream.write(line.encode() + b"\n")


def _quote_path(path: str | bytes) -> str:
    path_bytes = path if isinstance(path, bytes) else path.encode()
    return '"' + "".join(f"\\{byte:03o}" for byte in path_bytes) + '"'


@contextmanager
def building(folder: Path) -> Iterator[Builder]:
    """A repository in a new folder, whole at the end of the block."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    line = ["git", "-C", str(folder), "fast-import", "--quiet", "--force"]
    with subprocess.Popen(line, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Builder(process.stdin, process.stdout)
        process.stdin.close()
        assert process.wait() == 0
