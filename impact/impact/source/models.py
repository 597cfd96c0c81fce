"""Files of a repository, and the commits that change them, by the hashes that git gives both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

# bytes of one file. The largest source files of vLLM have 300,000; generated ones have more and explain nothing.
# GitHub's GraphQL cuts texts above 512,000 bytes
MAX_SOURCE_BYTES = 500_000
# the first line of the text that Git LFS keeps in place of a file (git-lfs.com, "Git LFS Specification")
LFS_POINTER_START = "version https://git-lfs.github.com/spec/"
_HASH = re.compile(r"[0-9a-f]{7,40}", re.A | re.I)
_WHOLE_HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])", re.A)
# Git allows more; what begins with a dash is an option, and two dots are a range
_TAG = re.compile(r"(?!.*\.\.)[0-9a-z][0-9a-z._+/-]{0,99}", re.A | re.I)


class SourceProblem(StrEnum):
    """Why a file is not read, as a clause for a person."""

    MISSING = "the file doesn't exist"
    BINARY = "it is binary"
    TOO_LARGE = "it is too large"
    NOT_UTF8 = "it is not UTF-8"
    SYMLINK = "it is a symbolic link"
    SUBMODULE = "it is a submodule"
    FOLDER = "it is a folder"
    LFS_POINTER = "it is stored with Git LFS"
    # the one reason that may be gone when the file is read again
    UNAVAILABLE = "it could not be read"


class DiffSide(StrEnum):
    """The side of a diff: the file after the change, or the file before it."""

    NEW = "new"
    OLD = "old"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file at a commit. ``text`` is empty if there is a ``problem``."""

    path: str
    text: str = ""
    problem: SourceProblem | None = None

    @property
    def lines(self) -> list[str]:
        """The lines without their ends, as git counts them: only a line feed ends one."""
        lines = self.text.split("\n")
        return lines[:-1] if lines[-1] == "" else lines


@dataclass(frozen=True, slots=True)
class SourceVersions:
    """Files before a commit, at its first parent, and after it, by their paths on each side."""

    old: Mapping[str, SourceFile]
    new: Mapping[str, SourceFile]


@dataclass(frozen=True, slots=True)
class LineCommit:
    """A commit on a branch's line of first parents. ``parent`` is empty for the first one. The time is in UTC."""

    sha: str
    parent: str
    committed_at: datetime


@dataclass(frozen=True, slots=True)
class BlobVersion:
    """A file at a commit: its path and the hash of its content."""

    path: str
    blob: str


@dataclass(frozen=True, slots=True)
class BlobChange:
    """A file before and after a commit; None where there is no regular one. A binary file has no lines."""

    old: BlobVersion | None
    new: BlobVersion | None
    added: int = 0
    deleted: int = 0

    @property
    def path(self) -> str:
        """Its path after the commit, or before it if it is gone."""
        version = self.new or self.old
        return version.path if version else ""


@dataclass(frozen=True, slots=True)
class TreeCommit:
    """A commit with its message and its changes against the first parent. The time is the committer's, in UTC."""

    sha: str
    committed_at: datetime
    message: str
    changes: tuple[BlobChange, ...] = ()
    author: str = ""

    @property
    def lines(self) -> int:
        return sum(change.added + change.deleted for change in self.changes)

    @property
    def paths(self) -> tuple[str, ...]:
        """The changed paths on both sides, each once."""
        sides = (version.path for change in self.changes for version in (change.old, change.new) if version)
        return tuple(dict.fromkeys(sides))


# --- what people write for a commit: its hash, or a tag


def is_hash(text: str) -> bool:
    """Return whether a text is a hash of 7 to 40 hexadecimal digits."""
    return _HASH.fullmatch(text) is not None


def is_tag(text: str) -> bool:
    """Return whether a text may be the name of a tag. It holds a digit, as versions do, and is no hash."""
    return _TAG.fullmatch(text) is not None and any(map(str.isdigit, text)) and not is_hash(text)


def find_hashes(text: str) -> list[str]:
    """Return the whole hashes in a text: 40 hexadecimal digits in lower case."""
    return _WHOLE_HASH.findall(text)
