"""The files of a commit as GitHub's GraphQL shows them, from bytes or from a clone."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from impact.testing.clones import git, git_bytes

FILE, EXECUTABLE, SYMLINK, SUBMODULE, FOLDER = 0o100644, 0o100755, 0o120000, 0o160000, 0o040000
# "GitHub truncates Blob.text at exactly 512,000 bytes per blob" (sveltia/sveltia-cms, issue 950)
TRUNCATED_ABOVE = 512_000
# charlock_holmes, with which GitHub's Linguist tells binary from text (ext/charlock_holmes/encoding_detector.c)
_TEXT_STARTS = (b"%!PS-Adobe-", codecs.BOM_UTF32_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)
_BINARY_STARTS = (b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"%PDF-", b"\xff\xd8\xff")
_TYPES = {FOLDER: "tree", SUBMODULE: "commit"}


@dataclass(frozen=True)
class Entry:
    """An entry of a tree. ``data`` are the bytes of a file, or the target of a symbolic link."""

    data: bytes = b""
    mode: int = FILE


class Tree(Protocol):
    def find(self, path: str) -> Entry | None: ...

    def list_files(self) -> Iterable[tuple[str, int, str, int]]:
        """The path, mode, hash and size of each entry but folders."""


@dataclass(frozen=True)
class FixedTree:
    """Files by path; the folders follow from them."""

    entries: Mapping[str, Entry]

    def find(self, path: str) -> Entry | None:
        is_folder = any(each.startswith(f"{path}/") for each in self.entries)
        return Entry(mode=FOLDER) if is_folder else self.entries.get(path)

    def list_files(self) -> Iterable[tuple[str, int, str, int]]:
        for path, entry in self.entries.items():
            yield path, entry.mode, hash_object(b"blob", entry.data), len(entry.data)


@dataclass(frozen=True)
class ClonedTree:
    clone: Path
    commit: str

    def find(self, path: str) -> Entry | None:
        line = git(self.clone, "--literal-pathspecs", "ls-tree", "-z", self.commit, "--", path).partition("\t")[0]
        if not line:
            return None
        mode, kind, oid = line.split()
        data = git_bytes(self.clone, "cat-file", "blob", oid) if kind == "blob" else b""
        return Entry(data, int(mode, 8))

    def list_files(self) -> Iterable[tuple[str, int, str, int]]:
        for line in filter(None, git(self.clone, "ls-tree", "-r", "-z", "-l", self.commit).split("\0")):
            facts, _, path = line.partition("\t")
            mode, _, oid, size = facts.split()
            yield path, int(mode, 8), oid, int(size) if size.isdigit() else 0


@dataclass(frozen=True)
class TreeCommit:
    """A commit with its files, and its first parent if it has one."""

    oid: str
    tree: Tree
    parent: TreeCommit | None = None


def read_commit(clone: Path, commit: str) -> TreeCommit:
    """A commit of a clone with its first parent."""
    oid, *parents = git(clone, "rev-list", "--parents", "-n", "1", commit).split()
    parent = TreeCommit(parents[0], ClonedTree(clone, parents[0])) if parents else None
    return TreeCommit(oid, ClonedTree(clone, oid), parent)


def entry_node(tree: Tree, path: str) -> dict[str, Any] | None:
    """The tree entry at a path; null if there is none. The commit of a submodule is in another repository."""
    entry = tree.find(path)
    if entry is None:
        return None
    kind = _TYPES.get(entry.mode, "blob")
    return {
        "mode": entry.mode,
        "type": kind,
        "name": path.rpartition("/")[2],
        "path": path,
        "object": blob_node(entry.data) if kind == "blob" else _tree_node(path) if kind == "tree" else None,
    }


def _tree_node(path: str) -> dict[str, Any]:
    oid = hash_object(b"tree", path.encode())
    return {"__typename": "Tree", "id": f"T_{oid[:12]}", "oid": oid}


def blob_node(data: bytes) -> dict[str, Any]:
    """A file: its text is in UTF-8 whatever it was in, cut where it is long, and null where it is binary."""
    oid, is_truncated = hash_object(b"blob", data), len(data) > TRUNCATED_ABOVE
    is_binary = _is_binary(data)
    return {
        "__typename": "Blob",
        "id": f"B_{oid[:12]}",
        "oid": oid,
        "byteSize": len(data),
        # nobody looks whether what is truncated is binary (ossf/pvtr-github-repo-scanner, pull request 219)
        "isBinary": None if is_truncated else is_binary,
        "isTruncated": is_truncated,
        "text": None if is_binary else transcode(data[:TRUNCATED_ABOVE], is_cut=is_truncated),
    }


def hash_object(kind: bytes, data: bytes) -> str:
    return hashlib.sha1(b"%s %d\0" % (kind, len(data)) + data, usedforsecurity=False).hexdigest()


def _is_binary(data: bytes) -> bool:
    if data.startswith(_BINARY_STARTS):
        return True
    return not data.startswith(_TEXT_STARTS) and b"\0" in data


def transcode(data: bytes, *, is_cut: bool = False) -> str:
    """A text in UTF-8, from the encoding that it seems to have."""
    for mark, encoding in (
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8", "ignore" if is_cut else "strict")
    except UnicodeDecodeError:
        return data.decode("windows-1252", "replace")
