"""Contracts of merges, read through an emulated GitHub: both versions of each file, one call, and once.

What they deprecate is noted, and says how far it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from redis import Redis

from bot.app import App
from bot.errors import GitHubUnavailable, StoreUnavailable
from bot.features.touches.contracts import (
    CONTRACTS,
    LEDGERS,
    MAX_FILES,
    get_kept_contract,
    keep_contract,
    list_deprecations,
    list_package_files,
    list_used_steps,
    load_ledger,
    note_deprecations,
    read_changes,
    read_contracts,
    read_merge,
    select_files,
)
from bot.platform.pulls.models import PullRequest
from bot.platform.source.models import SourceVersionReader
from impact.contract.deprecations import DeprecationState, build_releases
from impact.contract.extraction import EXTRACTION_VERSION
from impact.contract.models import ChangeKind, ContractChange, ContractClass, Deadline, MergeContract
from impact.coverage import UnreadFile
from impact.profile.models import Profile, Use, UseKind
from impact.repository import Repository
from impact.source.models import SourceVersions
from tests.features.touches.worlds import add_merge, open_app
from tests.helpers.builders import NOON, REPOSITORY, changed_file, pull
from tests.helpers.worlds import ScriptedGitHub

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


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        yield emulator


@pytest.fixture
def app(github: ScriptedGitHub, store: Redis) -> App:
    return open_app(store, github)


@pytest.fixture
def merge(github: ScriptedGitHub) -> PullRequest:
    return add_merge(github, 7, AFTER, BEFORE, FILES)


def test_each_file_is_read_as_it_was_and_as_it_is_in_one_call(
    app: App, github: ScriptedGitHub, merge: PullRequest
) -> None:
    contract = read_merge(app, merge)
    assert github.queries == len(github.calls) == 1
    names = {change.name: change.kind for change in contract.changes}
    assert names["engine.core.run"] is ChangeKind.SIGNATURE
    assert names["engine.same"] is ChangeKind.REMOVED
    assert contract.unread == ()
    assert contract.files == tuple(sorted([*(file.path for file in FILES), "engine/old.py"]))


def test_a_merge_is_read_once_for_all_processes(
    app: App, github: ScriptedGitHub, store: Redis, merge: PullRequest
) -> None:
    first = read_merge(app, merge)
    renamed = replace(merge, title="Another title", files=None)
    assert read_merge(open_app(store, github), renamed) == replace(first, title="Another title")
    assert len(github.calls) == 1
    (key,) = store.scan_iter("contract:*")
    assert key.decode() == f"contract:{EXTRACTION_VERSION}:octo/engine:{merge.commit}"
    assert CONTRACTS.lifetime
    assert 0 < int(str(store.ttl(key))) <= CONTRACTS.lifetime.total_seconds()


@pytest.mark.parametrize("kept", ["p{", "p[]", 'p{"version": 1}', ""])
def test_what_cannot_be_read_in_the_cache_is_read_again(
    app: App, store: Redis, merge: PullRequest, kept: str
) -> None:
    store.set(f"contract:{EXTRACTION_VERSION}:octo/engine:{merge.commit}", kept)
    assert read_merge(app, merge).changes


def test_what_a_later_version_read_is_not_replaced(app: App, store: Redis, merge: PullRequest) -> None:
    store.set(f"contract:{EXTRACTION_VERSION}:octo/engine:{merge.commit}", "p" + json.dumps({"version": 9}))
    with pytest.raises(StoreUnavailable):
        read_merge(app, merge)


def test_a_merge_of_pictures_takes_no_call(app: App, github: ScriptedGitHub) -> None:
    contract = read_merge(app, add_merge(github, 7, files=[changed_file("a.png")]))
    assert (github.calls, contract.unread, contract.files) == ([], (), ("a.png",))


@pytest.mark.slow
def test_files_beyond_the_limit_are_named(app: App, github: ScriptedGitHub) -> None:
    paths = [f"engine/part_{number:02}.py" for number in range(MAX_FILES + 2)]
    tree = dict.fromkeys(paths, b"a = 1\n")
    contract = read_merge(app, add_merge(github, 7, tree, tree, [changed_file(path) for path in paths]))
    reason = "the merge changes more files than are read"
    assert contract.unread == tuple(UnreadFile(path, reason) for path in paths[MAX_FILES:])
    assert len(github.calls) == 1


def test_without_its_files_a_merge_is_unread_and_tried_again(
    app: App, github: ScriptedGitHub, store: Redis, merge: PullRequest
) -> None:
    unlisted = read_merge(app, replace(merge, files=None))
    assert unlisted.unread == (UnreadFile("#7", "their changed files could not be listed"),)
    github.fail_next("401", times=10)
    away = read_merge(app, merge)
    assert all("token" in file.reason for file in away.unread)
    assert (len(away.unread), away.changes) == (4, ())
    assert list(store.scan_iter("contract:*")) == []


def test_what_could_not_be_read_is_asked_for_once_by_many_channels_and_again_after_minutes(
    app: App, github: ScriptedGitHub, store: Redis, merge: PullRequest
) -> None:
    github.fail_next("401")
    away = read_changes(app, [merge])
    calls = len(github.calls)
    assert [read_changes(open_app(store, github), [merge]) for _ in range(9)] == [away] * 9
    assert len(github.calls) == calls, "nine more channels ask for nothing"
    (key,) = store.scan_iter("unread:*")
    assert 60 < int(str(store.ttl(key))) <= 300
    assert read_merge(app, merge, must_wait=True).changes, "who waits for it asks at once"
    assert read_changes(app, [merge])[0][0].changes


def test_where_there_is_no_source_nothing_is_claimed(store: Redis) -> None:
    contract = read_merge(open_app(store), pull(7, files=FILES))
    assert contract.changes == ()
    assert {file.reason for file in contract.unread} == {"the demo has no source files"}


def test_a_file_that_another_commit_changed_is_unread(app: App, github: ScriptedGitHub) -> None:
    contract = read_merge(app, add_merge(github, 7, AFTER, BEFORE, [changed_file("engine/elsewhere.py")]))
    assert contract.unread == (UnreadFile("engine/elsewhere.py", "the file doesn't exist"),)


@pytest.mark.slow
def test_a_day_of_43_merges_takes_a_call_each(app: App, github: ScriptedGitHub) -> None:
    for number in range(1, 44):
        assert not read_merge(app, add_merge(github, number, AFTER, BEFORE, FILES)).unread
    assert len(github.calls) == 43


# --- which files are read


def select(*paths: str) -> list[str]:
    return [file.path for file in select_files(map(changed_file, paths))]


def test_what_defines_more_comes_first() -> None:
    paths = ["tests/test_a.py", "chart/values.yaml", "csrc/ops.cu", "setup.py", "pyproject.toml", "vllm/b.py"]
    ordered = ["setup.py", "vllm/b.py", "pyproject.toml", "csrc/ops.cu", "chart/values.yaml", "tests/test_a.py"]
    assert select(*paths) == ordered


@pytest.mark.parametrize("path", ["logo.png", "docs/usage.md", "configs/E=8.json", "LICENSE", "a.py.orig", ""])
def test_what_says_nothing_to_others_is_not_read(path: str) -> None:
    assert select(path) == []


@pytest.mark.parametrize("path", ["docker/Dockerfile.rocm", "requirements/cuda.txt", "vllm.proto", "a.PY", "r.md"])
def test_files_for_deployers_are_read(path: str) -> None:
    assert select(path) == [path]


def test_packages_above_a_file_are_listed_nearest_first_unless_they_changed() -> None:
    files = [changed_file("a/b/c.py", previous_path="a/old/c.py"), changed_file("a/b/d.py"), changed_file("x.md")]
    assert list_package_files(files) == ["a/b/__init__.py", "a/old/__init__.py", "a/__init__.py"]
    assert list_package_files([changed_file("a/__init__.py"), changed_file("a/b.py")]) == []
    assert list_package_files([changed_file("tests/a/b.py"), changed_file("top.py")]) == []


# --- deprecations

USE = Use(UseKind.FLAG, "--old", "run.sh", 4)
TEAM = Profile("ours", ("engine",), "", "", NOON, (USE,))


def deprecating(number: int, kind: ChangeKind, name: str = "--old") -> MergeContract:
    """A merge a day after the one before."""
    row = ContractChange(ContractClass.FLAG, kind, name, "", "", "a.py", 1, deadline=Deadline("v1.2"))
    return MergeContract(number, f"{number:040x}", NOON + timedelta(days=number), changes=(row,))


def at_day(store: Redis, days: int, list_releases: Callable[..., object] | None = None) -> App:
    """An app some days later; releases are listed without a cache."""
    releases = SimpleNamespace(list_releases=list_releases) if list_releases else None
    app = open_app(store, releases=releases)
    app.now = lambda: NOON + timedelta(days=days)
    return app


def list_states(app: App) -> list[DeprecationState]:
    return [state for state, _ in list_deprecations(app, REPOSITORY).ignore_coverage()]


def test_announcements_and_removals_are_noted_once(store: Redis) -> None:
    app = at_day(store, 30)
    for contract in (deprecating(1, ChangeKind.DEPRECATED), deprecating(2, ChangeKind.ADDED)):
        note_deprecations(app, REPOSITORY, contract)
    before = load_ledger(app, REPOSITORY)
    for contract in (deprecating(1, ChangeKind.DEPRECATED), deprecating(3, ChangeKind.REMOVED, "--other")):
        note_deprecations(app, REPOSITORY, contract)
    assert load_ledger(app, Repository("Octo", "Engine")) == before
    ((state, used),) = list_deprecations(app, REPOSITORY, TEAM).ignore_coverage()
    assert (state, used.entry.when, used.uses) == (DeprecationState.ANNOUNCED, "v1.2", (USE,))
    note_deprecations(app, REPOSITORY, deprecating(4, ChangeKind.REMOVED))
    assert list_states(app) == [DeprecationState.REMOVED]


def test_days_before_the_first_merge_that_is_known_count_as_unread(store: Redis) -> None:
    app = at_day(store, 40)

    def explain_gaps(merged: int) -> str:
        made = replace(pull(merged + 1), merged_at=NOON + timedelta(days=merged))
        app.merge_history.record_merges([made])
        keep_contract(app, made, deprecating(made.number, ChangeKind.ADDED))
        return list_deprecations(app, REPOSITORY).coverage.explain_gaps(is_empty=True)

    assert explain_gaps(39) == "I couldn't read 30 of 31 days (my history begins later), so I can't tell."
    assert explain_gaps(20).startswith("I couldn't read 11 of 31 days")
    # a quiet repository, whose last merge before was long ago
    assert explain_gaps(2) == ""


def test_releases_make_it_due_and_are_news(store: Redis) -> None:
    releases = build_releases([("v1.1.0", NOON + timedelta(days=5))])
    app = at_day(store, 9, lambda repository: releases)
    note_deprecations(app, REPOSITORY, deprecating(1, ChangeKind.DEPRECATED))
    assert list_states(app) == [DeprecationState.DUE]
    ends = NOON + timedelta(days=5), NOON + timedelta(days=6)
    (step,) = list_used_steps(app, REPOSITORY, *ends, TEAM)
    assert (step.news.state, step.news.release, step.used.uses) == (DeprecationState.DUE, releases[0], (USE,))
    assert list_used_steps(app, REPOSITORY, *ends, replace(TEAM, uses=())) == ()


def test_releases_that_are_unavailable_are_none(store: Redis) -> None:
    def fail(repository: Repository) -> object:
        raise GitHubUnavailable(f"{repository} can't be read.")

    app = at_day(store, 9, fail)
    note_deprecations(app, REPOSITORY, deprecating(1, ChangeKind.DEPRECATED))
    assert list_states(app) == [DeprecationState.ANNOUNCED]
    (step,) = list_used_steps(app, REPOSITORY, NOON, NOON + timedelta(days=9), TEAM)
    assert step.news.state is DeprecationState.ANNOUNCED


def test_a_ledger_that_is_damaged_is_empty_and_one_of_a_later_version_stops_nobody(store: Redis) -> None:
    app, key = at_day(store, 9), LEDGERS.family.build_key("octo/engine")
    for damaged in (b"p", b"p{", b'p{"version": 1, "entries": 7}'):
        store.set(key, damaged)
        assert load_ledger(app, REPOSITORY).entries == ()
    store.set(key, b'p{"version": 2}')
    note_deprecations(app, REPOSITORY, deprecating(1, ChangeKind.DEPRECATED))
    assert store.get(key) == b'p{"version": 2}'
    with pytest.raises(StoreUnavailable):
        list_deprecations(app, REPOSITORY)


# --- what one merge makes fail


class FailingVersions:
    """A source whose answer about one merge meets a defect."""

    def __init__(self, inner: SourceVersionReader, commit: str) -> None:
        self._inner, self._commit = inner, commit

    def read_versions(self, repository: Repository, commit: str, *paths: Sequence[str]) -> SourceVersions:
        if commit == self._commit:
            raise RuntimeError("planted")
        return self._inner.read_versions(repository, commit, *paths)


def test_a_merge_with_which_a_defect_is_met_is_unread_and_no_other(
    app: App, store: Redis, github: ScriptedGitHub, caplog: pytest.LogCaptureFixture
) -> None:
    merges = [add_merge(github, number, AFTER, BEFORE, FILES) for number in (1, 2, 3)]
    reader = app.sources.source_versions
    assert reader
    app = open_app(store, source_versions=FailingVersions(reader, merges[1].commit))
    contracts = read_contracts(app, merges)
    assert [bool(each.changes) for each in contracts] == [True, False, True]
    assert contracts[1].unread == (UnreadFile("#2", "reading it failed"),)
    assert get_kept_contract(app, merges[1]) is None
    assert any(record.exc_info and "planted" in str(record.exc_info[1]) for record in caplog.records)


@pytest.mark.parametrize("literal", [b"0x" + b"f" * 3_572, b"0b" + b"1" * 15_000])
def test_a_long_integer_in_one_file_ends_nothing(app: App, github: ScriptedGitHub, literal: bytes) -> None:
    after = {**AFTER, "engine/core.py": b"P = " + literal + b"\ndef run(x=" + literal + b"): ...\n"}
    contract = read_merge(app, add_merge(github, 7, after, BEFORE, FILES))
    assert {"engine.core.run", "engine.same"} <= {change.name for change in contract.changes}
    assert not [file for file in contract.unread if file.path.endswith(".py")]
