"""A profile of a repository, scanned and linked through GitHub's emulator, and kept in a real store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from github import Auth
from redis import Redis

from bot.adapters.github import GitHubClient, GitHubSourceFiles, GitHubTrees
from bot.adapters.redis import RedisCache, RedisDueQueue, RedisProfileStore, RedisTouchStore
from bot.adapters.redis.records.history import RedisHistoryStore
from bot.domain.errors import UsageError
from bot.domain.profile.entries import ProfileEntry
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.due_items import ProfileRefresh
from bot.domain.time.day import LocalDay
from bot.services.contract.reader import ContractReader
from bot.services.digest.touched_day import MoveReader
from bot.services.profile.refresher import LOOK_BACK, ProfileRefresher, ProfileSources, build_entry
from bot.services.profile.registry import ProfileRegistry
from bot.services.touches.decisions import TouchDecisions
from bot.services.touches.kept_contracts import KeptContracts
from impact.contract.extraction import EXTRACTION_VERSION, extract_merge
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.profile.models import Profile, UseKind
from impact.profile.moves import MovedHit, ProfileMove
from tests.adapters.worlds import ScriptedGitHub
from tests.emulators.github.server import pull
from tests.emulators.github.store import sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.builders import DAY, NOON
from tests.helpers.builders import pull as built_pull

UPSTREAM, SOURCE = Repository("octo", "engine"), Repository("octo", "plugin")
CORE = b"class Core:\n    def step(self):\n        return 1\n"
GONE = b"    def stop(self):\n        return 2\n"
PLUGIN = (
    b"from engine import Core\n\n\nclass Mine(Core):\n    def step(self):\n        return self.stop()\n"
    b"\n    def stop(self):\n        return 3\n"
)
OLD = {"engine/__init__.py": b"from engine.core import Core\n", "engine/core.py": CORE + GONE}
NEW = {**OLD, "engine/core.py": CORE}
ENTRY = build_entry("ascend", UPSTREAM, (), SOURCE)


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        commit(emulator, UPSTREAM, 1, OLD, days_ago=LOOK_BACK.days + 1)
        commit(emulator, UPSTREAM, 2, NEW, days_ago=1)
        commit(emulator, SOURCE, 3, {"plugin/worker.py": PLUGIN, "logo.png": b"\x89PNG"}, days_ago=1)
        yield emulator


def commit(
    github: ScriptedGitHub, repository: Repository, number: int, files: Mapping[str, bytes], days_ago: int
) -> None:
    github.add(str(repository), pull(number, merged_at=NOON - timedelta(days=days_ago)))
    tree = FixedTree({path: Entry(data) for path, data in files.items()})
    github.add_commit(str(repository), TreeCommit(sha(f"merge {number}"), tree))


@pytest.fixture
def registry(github: ScriptedGitHub, store: Redis) -> ProfileRegistry:
    profiles = RedisProfileStore(store)
    return ProfileRegistry(
        profiles,
        refresher(github, store),
        TouchDecisions(RedisTouchStore(store), lambda: NOON),
        RedisDueQueue(store),
        lambda: NOON,
    )


def refresher(
    github: ScriptedGitHub,
    store: Redis,
    list_contracts: Callable[[Repository], Sequence[MergeContract]] = lambda repository: (),
) -> ProfileRefresher:
    client = GitHubClient(github.url, Auth.Token(github.token))
    sources = ProfileSources(GitHubTrees(client), GitHubSourceFiles(client))
    return ProfileRefresher(RedisProfileStore(store), sources, RedisCache(store), lambda: NOON, 2, list_contracts)


def scan_profile(github: ScriptedGitHub, store: Redis) -> Profile:
    entry = refresher(github, store).refresh("ascend")
    assert entry is not None
    assert entry.problem == ""
    profile = RedisProfileStore(store).get_profile("ascend")
    assert profile is not None
    assert (entry.uses, entry.files, entry.commit) == (len(profile.uses), profile.files, profile.commit)
    return profile


def test_a_tree_is_scanned_and_linked_to_what_upstream_defines(
    github: ScriptedGitHub, store: Redis, registry: ProfileRegistry
) -> None:
    registry.add(ENTRY)
    profile = scan_profile(github, store)
    assert (profile.source, profile.commit, profile.files) == ("octo/plugin", sha("merge 3"), 1)
    imported = next(use for use in profile.uses if use.kind is UseKind.IMPORT)
    assert (imported.name, imported.definitions) == ("engine.Core", ("engine.core.Core",))
    assert profile.classes["plugin.worker.Mine"].ancestors == ("engine.core.Core",)


def test_what_upstream_removed_meanwhile_is_linked_too(
    github: ScriptedGitHub, store: Redis, registry: ProfileRegistry
) -> None:
    registry.add(ENTRY)
    overrides = [use for use in scan_profile(github, store).uses if use.kind is UseKind.OVERRIDE]
    assert {use.definitions for use in overrides} == {("engine.core.Core.step",), ("engine.core.Core.stop",)}


@pytest.mark.slow
def test_the_next_day_reads_what_changed_alone(
    github: ScriptedGitHub, store: Redis, registry: ProfileRegistry
) -> None:
    registry.add(ENTRY)
    first = scan_profile(github, store)
    asked = len(github.calls)
    again = scan_profile(github, store)
    # the newest commit and the list of files of three trees, and what is ignored by hand
    assert len(github.calls) - asked == 7
    assert replace(again, scanned_at=first.scanned_at) == first
    more = {"plugin/worker.py": PLUGIN, "plugin/cli.py": b"import engine.core\n"}
    commit(github, SOURCE, 4, more, days_ago=0)
    asked = len(github.calls)
    assert scan_profile(github, store).files == 2
    assert len(github.calls) - asked == 8


@pytest.mark.slow
def test_earlier_merges_that_touch_since_the_tree_moved_are_kept_for_the_digest_of_that_day(
    github: ScriptedGitHub, store: Redis, registry: ProfileRegistry
) -> None:
    history, cache = RedisHistoryStore(store), RedisCache(store)
    contracts = ContractReader(
        None, cache, lambda merge_contract: merge_contract, extract_merge, EXTRACTION_VERSION
    )
    names = {
        21: "engine.core.other",
        22: "engine.core.Core.stop",
        23: "engine.core.unused",
        24: "engine.core.other",
    }
    for number, name in names.items():
        merged = built_pull(number, merged_at=NOON - timedelta(days=1 if number != 24 else 20))
        history.record_merges([merged])
        change = ContractChange(ContractClass.FUNCTION, ChangeKind.REMOVED, name, "", "", "engine/core.py", 1)
        if name.endswith("stop"):
            change = replace(change, subject=ContractClass.METHOD)
        contracts.keep(
            merged, MergeContract(number, merged.commit, merged.merge_time, "Change it", changes=(change,))
        )
    kept = KeptContracts(lambda: history, contracts.get_cached, lambda: NOON)

    def refresh() -> ProfileEntry:
        entry = refresher(github, store, kept.list_recent).refresh("ascend")
        assert entry is not None
        return entry

    registry.add(ENTRY)
    # the first scan has nothing to compare with
    assert refresh().moves == ()
    commit(github, SOURCE, 4, {"plugin/cli.py": b"from engine.core import other\nother()\n"}, days_ago=0)
    (move,) = refresh().moves
    assert move == ProfileMove(NOON, (MovedHit(21, names[21]),), (MovedHit(22, names[22]),))
    # the same commit again is no move
    assert refresh().moves == (move,)
    moves = MoveReader(RedisProfileStore(store).get_entry)
    days = [LocalDay(NOON.date() + timedelta(days=days), DAY.zone) for days in (-1, 0, 1)]
    assert [moves.list_day("ascend", day) for day in days] == [(), (move,), ()]
    assert moves.list_day("", days[1]) == moves.list_day("nobody", days[1]) == ()


@pytest.mark.slow
def test_what_the_team_ignores_by_hand_is_left_out(
    github: ScriptedGitHub, store: Redis, registry: ProfileRegistry
) -> None:
    manual = b"ignore:\n  - path: plugin/\n    reason: a sample\n"
    commit(github, SOURCE, 4, {"plugin/worker.py": PLUGIN, ".prdigest-profile.yaml": manual}, days_ago=0)
    registry.add(ENTRY)
    assert scan_profile(github, store).uses == ()
    commit(github, SOURCE, 5, {"plugin/worker.py": PLUGIN, ".prdigest-profile.yaml": b"ignore: 7"}, days_ago=-1)
    entry = refresher(github, store).refresh("ascend")
    assert entry is not None
    assert "The profile file is wrong" in entry.problem


def test_a_failure_is_part_of_the_entry_and_leaves_the_profile(
    github: ScriptedGitHub, store: Redis, registry: ProfileRegistry
) -> None:
    registry.add(ENTRY)
    first = scan_profile(github, store)
    github.fail_next("401", times=20)
    entry = refresher(github, store).refresh("ascend")
    assert entry is not None
    assert "GitHub rejected the token" in entry.problem
    assert RedisProfileStore(store).get_profile("ascend") == first


def test_a_profile_from_a_file_is_linked_again(
    github: ScriptedGitHub, store: Redis, registry: ProfileRegistry
) -> None:
    registry.add(ENTRY)
    profile = scan_profile(github, store)
    plain = replace(profile, uses=tuple(replace(use, definitions=()) for use in profile.uses))
    registry.add(replace(ENTRY, source=None), plain)
    linked = scan_profile(github, store)
    imported = next(use for use in linked.uses if use.kind is UseKind.IMPORT)
    assert imported.definitions == ("engine.core.Core",)
    assert linked.commit == profile.commit


def test_one_that_is_removed_leaves_nothing_and_is_not_scanned(
    github: ScriptedGitHub, store: Redis, registry: ProfileRegistry
) -> None:
    registry.add(ENTRY)
    assert [item for item, _ in RedisDueQueue(store).list_due(NOON)] == [ProfileRefresh("ascend")]
    scan_profile(github, store)
    registry.remove("ascend")
    assert refresher(github, store).refresh("ascend") is None
    assert RedisDueQueue(store).list_due(NOON) == []
    assert [key for key in store.scan_iter("*") if b"ascend" in key] == []
    with pytest.raises(UsageError, match="no profile 'ascend'"):
        registry.remove("ascend")


def test_without_a_source_of_files_the_reason_is_kept(store: Redis) -> None:
    profiles = RedisProfileStore(store)
    profiles.put(ENTRY)
    bare = ProfileRefresher(profiles, ProfileSources(None, None), RedisCache(store), lambda: NOON, workers=1)
    entry = bare.refresh("ascend")
    assert entry is not None
    assert entry.problem == "There is no source of files here."
