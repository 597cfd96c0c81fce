"""Contracts of merges, read through an emulated GitHub: both versions of each file, one call, and once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pytest
from github import Auth
from redis import Redis

from bot.adapters.redis import RedisCache
from bot.domain.errors import GitHubUnavailable
from bot.domain.keyspace.keys import MERGE_CONTRACT
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.platform.github.client import GitHubClient
from bot.platform.github.source_files import GitHubSourceFiles
from bot.services.contract.reader import ContractReader
from impact.contract.extraction import MergeFacts
from impact.contract.models import (
    ChangeKind,
    ContractChange,
    ContractClass,
    FileVersions,
    MergeContract,
    Migration,
    UnreadFile,
)
from impact.python.models import CallShape, Parameter, Signature
from impact.source.models import SourceFile
from tests.adapters.worlds import REPO, ScriptedGitHub
from tests.emulators.github.store import sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.builders import changed_file, pull

BEFORE = {"engine/core.py": b"def run(): ...\n", "engine/old.py": b"old = 1\n", "engine/same.py": b"same = 1\n"}
AFTER = {
    "engine/core.py": b"def run(x): ...\n",
    "engine/new.py": b"old = 1\n",
    "engine/added.py": b"new = 1\n",
    "engine/__init__.py": b"from engine.new import old\n",
    "logo.png": b"\x89PNG",
}
FILES = (
    changed_file("engine/core.py"),
    changed_file("engine/new.py", status="renamed", previous_path="engine/old.py"),
    changed_file("engine/added.py", status="added"),
    changed_file("engine/same.py", status="removed"),
    changed_file("logo.png"),
)
CHANGE = ContractChange(
    ContractClass.FUNCTION,
    ChangeKind.SIGNATURE,
    "engine.core.run",
    "def run()",
    "def run(x)",
    "engine/core.py",
    1,
    DiffSide.NEW,
    old_signature=Signature(),
    new_signature=Signature((Parameter("x"),)),
)


@dataclass
class Extraction:
    """Finds the same in every merge, and keeps what it was given."""

    versions: list[FileVersions] = field(default_factory=list)
    packages: list[SourceFile] = field(default_factory=list)
    count: int = 0

    def extract(
        self, merge: MergeFacts, versions: Sequence[FileVersions], packages: Sequence[SourceFile]
    ) -> MergeContract:
        self.count += 1
        self.versions, self.packages = list(versions), list(packages)
        migrations = {CHANGE.name: (Migration("engine/cli.py", 3, "run()", "run(1)"),)}
        calls = {"run": (CallShape(1),)}
        facts = (merge.number, merge.commit, merge.merged_at, merge.title)
        return MergeContract(*facts, (CHANGE,), migrations, calls)


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        yield emulator


def add_merge(github: ScriptedGitHub, number: int = 7, files: Sequence[ChangedFile] = FILES) -> PullRequest:
    before, after = ({path: Entry(data) for path, data in each.items()} for each in (BEFORE, AFTER))
    commit = sha(f"merge {number}")
    github.add_commit(REPO, TreeCommit(commit, FixedTree(after), TreeCommit(sha("before"), FixedTree(before))))
    return pull(number, files=files, merge_commit=commit)


def build_reader(
    github: ScriptedGitHub, store: Redis, extraction: Extraction, version: str = "1", most: int = 50
) -> ContractReader:
    versions = GitHubSourceFiles(GitHubClient(github.url, Auth.Token(github.token)))
    return ContractReader(versions, RedisCache(store), load_nothing, extraction.extract, version, most)


def load_nothing(_: PullRequest) -> PullRequest:
    raise GitHubUnavailable("GitHub is away.")


def test_each_file_is_read_as_it_was_and_as_it_is_in_one_call(github: ScriptedGitHub, store: Redis) -> None:
    extraction = Extraction()
    contract = build_reader(github, store, extraction).read_merge(add_merge(github))
    assert github.queries == len(github.calls) == 1
    sides = {each.path: (each.old and each.old.text, each.new and each.new.text) for each in extraction.versions}
    assert sides == {
        "engine/added.py": (None, "new = 1\n"),
        "engine/core.py": ("def run(): ...\n", "def run(x): ...\n"),
        "engine/new.py": ("old = 1\n", "old = 1\n"),
        "engine/same.py": ("same = 1\n", None),
    }
    assert [file.path for file in extraction.packages] == ["engine/__init__.py"]
    assert (contract.changes, contract.unread) == ((CHANGE,), ())
    assert contract.files == tuple(sorted([*(file.path for file in FILES), "engine/old.py"]))


def test_a_merge_is_read_once_for_all_processes(github: ScriptedGitHub, store: Redis) -> None:
    merge = add_merge(github)
    first = build_reader(github, store, Extraction()).read_merge(merge)
    again = Extraction()
    renamed = replace(merge, title="Another title", files=None)
    assert build_reader(github, store, again).read_merge(renamed) == replace(first, title="Another title")
    assert (again.count, len(github.calls)) == (0, 1)
    (key,) = store.scan_iter("contract:*")
    assert 0 < int(str(store.ttl(key))) <= MERGE_CONTRACT.lifetime.total_seconds()


def test_another_extraction_reads_it_again(github: ScriptedGitHub, store: Redis) -> None:
    merge, second = add_merge(github), Extraction()
    build_reader(github, store, Extraction()).read_merge(merge)
    build_reader(github, store, second, version="2").read_merge(merge)
    assert second.count == 1


@pytest.mark.parametrize("kept", ["{", "[]", '{"version": 1}', json.dumps({"version": 9}), ""])
def test_what_cannot_be_read_in_the_cache_is_read_again(github: ScriptedGitHub, store: Redis, kept: str) -> None:
    merge, extraction = add_merge(github), Extraction()
    key = MERGE_CONTRACT.build_key("1", "octo/engine", merge.commit)
    RedisCache(store).put(key, kept, MERGE_CONTRACT.lifetime)
    assert build_reader(github, store, extraction).read_merge(merge).changes == (CHANGE,)
    assert extraction.count == 1


def test_a_merge_of_pictures_takes_no_call(github: ScriptedGitHub, store: Redis) -> None:
    contract = build_reader(github, store, Extraction()).read_merge(
        add_merge(github, files=[changed_file("a.png")])
    )
    assert (github.calls, contract.unread, contract.files) == ([], (), ("a.png",))


def test_files_beyond_the_limit_are_named(github: ScriptedGitHub, store: Redis) -> None:
    contract = build_reader(github, store, Extraction(), most=2).read_merge(add_merge(github))
    reason = "the merge changes more files than are read"
    assert contract.unread == (UnreadFile("engine/new.py", reason), UnreadFile("engine/same.py", reason))
    assert len(github.calls) == 1


def test_without_its_files_a_merge_is_unread_and_tried_again(github: ScriptedGitHub, store: Redis) -> None:
    merge, extraction = add_merge(github), Extraction()
    reader = build_reader(github, store, extraction)
    unlisted = reader.read_merge(replace(merge, files=None))
    assert unlisted.unread == (UnreadFile("#7", "its changed files could not be listed"),)
    github.fail_next("401", times=10)
    away = reader.read_merge(merge)
    assert {file.reason for file in away.unread} == {"it could not be read"}
    assert (len(away.unread), away.changes, extraction.count) == (4, (), 0)
    assert list(store.scan_iter("contract:*")) == []


def test_where_there_is_no_source_nothing_is_claimed(store: Redis) -> None:
    reader = ContractReader(None, RedisCache(store), load_nothing, Extraction().extract, "1")
    contract = reader.read_merge(pull(7, files=FILES))
    assert contract.changes == ()
    assert {file.reason for file in contract.unread} == {"there is no source of files here"}


def test_a_file_that_another_commit_changed_is_unread(github: ScriptedGitHub, store: Redis) -> None:
    merge = add_merge(github, files=[changed_file("engine/elsewhere.py")])
    contract = build_reader(github, store, Extraction()).read_merge(merge)
    assert contract.unread == (UnreadFile("engine/elsewhere.py", "the file doesn't exist"),)


@pytest.mark.slow
def test_a_day_of_43_merges_takes_a_call_each(github: ScriptedGitHub, store: Redis) -> None:
    reader = build_reader(github, store, Extraction())
    for number in range(1, 44):
        assert not reader.read_merge(add_merge(github, number)).unread
    assert len(github.calls) == 43
