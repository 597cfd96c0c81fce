"""The files of commits as the GitHub emulator shows them: what GitHub shows, whatever a test would like."""

from typing import Any

import pytest

from tests.emulators.github.client import REPO, ask, refusal
from tests.emulators.github.server import GitHubEmulator, pull
from tests.emulators.github.store import sha
from tests.emulators.github.trees import (
    EXECUTABLE,
    SUBMODULE,
    SYMLINK,
    TRUNCATED_ABOVE,
    Entry,
    FixedTree,
    TreeCommit,
)

OID = sha("commit")
QUERY = """query ($oid: GitObjectID!, $path: String!) { repository(owner: "acme", name: "rocket") {
  object(oid: $oid) { __typename ... on Commit {
    file(path: $path) { mode type name path object {
      __typename oid ... on Blob { byteSize isBinary isTruncated text }
    } }
    parents(first: 1) { totalCount nodes { oid file(path: $path) { mode } } }
  } }
} }"""


def look(hub: GitHubEmulator, entry: Entry, path: str = "src/a") -> Any:
    hub.add_commit(REPO, TreeCommit(OID, FixedTree({"src/a": entry})))
    return ask(hub, QUERY, oid=OID, path=path)["repository"]["object"]["file"]


def look_at_text(hub: GitHubEmulator, data: bytes) -> tuple[Any, ...]:
    blob = look(hub, Entry(data))["object"]
    return blob["byteSize"], blob["isBinary"], blob["isTruncated"], blob["text"]


def test_a_file_has_the_id_that_git_gives_it(hub: GitHubEmulator) -> None:
    assert look(hub, Entry(b"hello\n")) == {
        "mode": 33_188,
        "type": "blob",
        "name": "a",
        "path": "src/a",
        "object": {
            "__typename": "Blob",
            "oid": "ce013625030ba8dba906f756967f9e9ca394464a",
            "byteSize": 6,
            "isBinary": False,
            "isTruncated": False,
            "text": "hello\n",
        },
    }


@pytest.mark.parametrize(
    ("entry", "path", "mode", "kind", "object_type"),
    [
        (Entry(b"x", EXECUTABLE), "src/a", 33_261, "blob", "Blob"),
        (Entry(b"b", SYMLINK), "src/a", 40_960, "blob", "Blob"),
        (Entry(mode=SUBMODULE), "src/a", 57_344, "commit", None),
        (Entry(b"x"), "src", 16_384, "tree", "Tree"),
    ],
)
def test_modes_are_decimal(
    hub: GitHubEmulator, entry: Entry, path: str, mode: int, kind: str, object_type: str | None
) -> None:
    tree_entry = look(hub, entry, path)
    assert (tree_entry["mode"], tree_entry["type"]) == (mode, kind)
    assert (tree_entry["object"] or {}).get("__typename") == object_type


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", (0, False, False, "")),
        ("größe\n".encode(), (8, False, False, "größe\n")),
        (b"caf\xe9\n", (5, False, False, "café\n")),
        ("\ufeffx\n".encode("utf-16-le"), (6, False, False, "x\n")),
        (b"a\0b", (3, True, False, None)),
        (b"%PDF-1.4", (8, True, False, None)),
        (b"x" * TRUNCATED_ABOVE, (512_000, False, False, "x" * 512_000)),
        (b"x" * (TRUNCATED_ABOVE + 1), (512_001, None, True, "x" * 512_000)),
        ("é".encode() * 300_000, (600_000, None, True, "é" * 256_000)),
        (b"\0" * 600_000, (600_000, None, True, None)),
    ],
    ids=["empty", "UTF-8", "Latin-1", "UTF-16", "binary", "PDF", "longest", "cut", "cut within", "large binary"],
)
def test_a_text_is_utf_8_or_null(hub: GitHubEmulator, data: bytes, shown: tuple[Any, ...]) -> None:
    assert look_at_text(hub, data) == shown


def test_what_is_not_there_is_null(hub: GitHubEmulator) -> None:
    assert look(hub, Entry(b"x"), "src/b") is None
    assert ask(hub, QUERY, oid=sha("x"), path="src/a")["repository"]["object"] is None


def test_a_commit_has_its_first_parent_or_none(hub: GitHubEmulator) -> None:
    first = TreeCommit(sha("first"), FixedTree({"src/a": Entry(b"x")}))
    hub.add_commit(REPO, first)
    hub.add_commit(REPO, TreeCommit(OID, FixedTree({}), first))
    commit = ask(hub, QUERY, oid=OID, path="src/a")["repository"]["object"]
    assert commit["file"] is None
    assert commit["parents"] == {"totalCount": 1, "nodes": [{"oid": first.oid, "file": {"mode": 33_188}}]}
    root = ask(hub, QUERY, oid=first.oid, path="src/a")["repository"]["object"]
    assert root["parents"] == {"totalCount": 0, "nodes": []}


def test_the_files_of_a_merge_are_not_made_up(hub: GitHubEmulator) -> None:
    assert ask(hub, QUERY, oid=pull(3).merge_commit_sha, path="a")["repository"]["object"] is None
    query = """{ repository(owner: "acme", name: "rocket") { pullRequest(number: 3) {
      mergeCommit { file(path: "a") { mode } } } } }"""
    assert "knows files of commits only" in refusal(hub, query)["errors"][0]["message"]
