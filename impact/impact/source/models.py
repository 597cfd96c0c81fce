from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

# bytes of one file. The largest source files of vLLM have 300,000; generated ones have more and explain nothing.
# GitHub's GraphQL cuts texts above 512,000 bytes
MAX_SOURCE_BYTES = 500_000
# the first line of the text that Git LFS keeps in place of a file (git-lfs.com, "Git LFS Specification")
LFS_POINTER_START = "version https://git-lfs.github.com/spec/"


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
