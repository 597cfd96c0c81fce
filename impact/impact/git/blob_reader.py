"""Contents of files by their hashes, through one process of ``git`` that stays open."""

from __future__ import annotations

import os
import select
import subprocess
from collections import OrderedDict
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from impact.errors import UsageError
from impact.git.commands import INSTALL_GIT, build_command, build_environment
from impact.source.models import MAX_SOURCE_BYTES, SourceFile, SourceProblem
from impact.source.reading import build_source_file
from impact.source.trees import BlobVersion

# characters of texts that are kept: a tree of 3,000 files has some 40 million
_MAX_KEPT = 40_000_000
# bytes of one read, and of the line before a content
_PIECE, _MAX_HEADER = 1 << 16, 300
# processes that may end before a content came; a damaged clone ends each
_MAX_STARTS = 20
# of the wait for one piece
_MAX_SECONDS = 30.0


class BlobReader:
    """Reader of contents of the clone in a folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
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
        """Return the running process. Raises UsageError if there is no git program."""
        if self._process is None:
            self._starts += 1
            try:
                self._process = subprocess.Popen(  # noqa: S603 (arguments of ours, and no shell)
                    build_command("git", self._path, "cat-file", "--batch"),
                    env=build_environment(self._path),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            except OSError as error:
                raise UsageError(INSTALL_GIT) from error
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
        output = _require_stream(self._start().stdout)
        # select.select refuses a descriptor above 1,023, which a busy web process reaches
        poller = select.poll()
        poller.register(output, select.POLLIN)
        if not poller.poll(_MAX_SECONDS * 1_000) or not (piece := os.read(output.fileno(), _PIECE)):
            raise OSError
        return piece


def _require_stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101 (opened with a pipe)
    return stream
