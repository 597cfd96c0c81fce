"""A profile of a repository, scanned and linked through GitHub's emulator, and kept in a real store."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from github import Auth
from redis import Redis

from bot.app import App
from bot.dates import LocalDay
from bot.errors import UsageError
from bot.features.digest.service import build_digest
from bot.features.merges.requests import DigestView
from bot.features.profiles.scanning import LOOK_BACK
from bot.features.profiles.service import PinnedMerge, ProfileEntry, Profiles
from bot.features.touches.contracts import keep_contract
from bot.features.touches.decisions import get_last_decisions, record_decision
from bot.features.touches.lines import (
    HitKey,
    PendingHits,
    TouchDecision,
    TouchVerdict,
    render_pending,
    render_spent,
)
from bot.features.touches.service import find_pending
from bot.features.touches.tasks import SCAN_INTERVAL, add_profile, refresh_profile, remove_profile
from bot.platform.github.caches import TAG_COMMITS
from bot.platform.github.client import GitHubClient
from bot.platform.github.source_files import GitHubSourceFiles, GitHubTrees
from bot.platform.pulls.models import Reference
from bot.platform.store.due_queue import ProfileRefresh
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.coverage import CoveredList, UnreadFile
from impact.profile.models import MovedHit, Profile, ProfileMove, Use, UseKind
from impact.repository import Repository
from impact.touches.spent import SpentUse
from tests.emulators.github.server import pull
from tests.emulators.github.store import sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.apps import make_app, make_digest_app
from tests.helpers.builders import DAY, NOON, REPOSITORY
from tests.helpers.builders import pull as built_pull
from tests.helpers.doubles import KnownPulls
from tests.helpers.world import as_read
from tests.helpers.worlds import ScriptedGitHub

UPSTREAM, SOURCE = Repository("octo", "engine"), Repository("octo", "plugin")
CORE = b"class Core:\n    def step(self):\n        return 1\n"
GONE = b"    def stop(self):\n        return 2\n"
PLUGIN = (
    b"from engine import Core\n\n\nclass Mine(Core):\n    def step(self):\n        return self.stop()\n"
    b"\n    def stop(self):\n        return 3\n"
)
OLD = {"engine/__init__.py": b"from engine.core import Core\n", "engine/core.py": CORE + GONE}
NEW = {**OLD, "engine/core.py": CORE}
ENTRY = ProfileEntry.build("ascend", UPSTREAM, (), SOURCE)


# merges that the tree pins
FIRST, SECOND = "a1" * 20, "b2" * 20
PINS = {
    FIRST: built_pull(11, merged_at=NOON - timedelta(days=40), merge_commit=FIRST),
    SECOND: built_pull(12, merged_at=NOON - timedelta(days=10), merge_commit=SECOND),
}
# by number: the function of upstream that is gone, and the days since
REMOVALS = {21: ("alpha", 30), 22: ("beta", 25), 25: ("late", 20), 23: ("gamma", 5), 24: ("delta", 4)}


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
def app(github: ScriptedGitHub, store: Redis) -> App:
    client = GitHubClient(github.url, Auth.Token(github.token))
    sources = SimpleNamespace(
        source_trees=GitHubTrees(client),
        source_files=GitHubSourceFiles(client),
        source_mirror=None,
        source_search=None,
        releases=None,
        tag_history=None,
        background=SimpleNamespace(
            find_merges=lambda _, commits: {
                each: PINS[pin] for each in commits for pin in PINS if pin.startswith(each)
            }
        ),
    )
    app = make_app(store, sources)
    app.now = lambda: NOON
    return app


def scan_profile(app: App) -> Profile:
    entry = refresh_profile(app, "ascend")
    assert entry is not None
    assert entry.problem == ""
    profile = app.profiles.get_profile("ascend")
    assert profile is not None
    assert (entry.uses, entry.files, entry.commit) == (len(profile.uses), profile.files, profile.commit)
    return profile


def add(app: App, entry: ProfileEntry = ENTRY, profile: Profile | None = None) -> Profile:
    assert add_profile(app, entry, profile).problem == ""
    added = app.profiles.get_profile("ascend")
    assert added is not None
    return added


def test_a_tree_is_scanned_and_linked_to_what_upstream_defines(app: App) -> None:
    profile = add(app)
    assert (profile.source, profile.commit, profile.files) == ("octo/plugin", sha("merge 3"), 1)
    imported = next(use for use in profile.uses if use.kind is UseKind.IMPORT)
    assert (imported.name, imported.definitions) == ("engine.Core", ("engine.core.Core",))
    assert profile.classes["plugin.worker.Mine"].ancestors == ("engine.core.Core",)
    # and to what upstream removed meanwhile
    overrides = [use for use in profile.uses if use.kind is UseKind.OVERRIDE]
    assert {use.definitions for use in overrides} == {("engine.core.Core.step",), ("engine.core.Core.stop",)}


@pytest.mark.slow
def test_the_next_day_reads_what_changed_alone(app: App, github: ScriptedGitHub) -> None:
    first = add(app)
    asked = len(github.calls)
    again = scan_profile(app)
    # the newest commit and the list of files of three trees, and what is ignored by hand
    assert len(github.calls) - asked == 7
    assert replace(again, scanned_at=first.scanned_at) == first
    more = {"plugin/worker.py": PLUGIN, "plugin/cli.py": b"import engine.core\n"}
    commit(github, SOURCE, 4, more, days_ago=0)
    asked = len(github.calls)
    assert scan_profile(app).files == 2
    assert len(github.calls) - asked == 8


@pytest.mark.slow
def test_earlier_merges_that_touch_since_the_tree_moved_are_kept_for_the_digest_of_that_day(
    app: App, github: ScriptedGitHub
) -> None:
    names = {
        21: "engine.core.other",
        22: "engine.core.Core.stop",
        23: "engine.core.unused",
        24: "engine.core.other",
    }
    for number, name in names.items():
        merged = built_pull(number, merged_at=NOON - timedelta(days=1 if number != 24 else 20))
        app.merge_history.record_merges([merged])
        change = ContractChange(ContractClass.FUNCTION, ChangeKind.REMOVED, name, "", "", "engine/core.py", 1)
        if name.endswith("stop"):
            change = replace(change, subject=ContractClass.METHOD)
        keep_contract(
            app, merged, MergeContract(number, merged.commit, merged.merge_time, "Change it", changes=(change,))
        )

    def refresh() -> ProfileEntry:
        entry = refresh_profile(app, "ascend")
        assert entry is not None
        return entry

    # the first scan has nothing to compare with
    assert add_profile(app, ENTRY).moves == refresh().moves == ()
    commit(github, SOURCE, 4, {"plugin/cli.py": b"from engine.core import other\nother()\n"}, days_ago=0)
    (move,) = refresh().moves
    assert move == ProfileMove(NOON, (MovedHit(21, names[21]),), (MovedHit(22, names[22]),))
    # the same commit again is no move
    assert refresh().moves == (move,)

    def refuse(*_: object) -> None:
        raise UsageError("Nothing is judged here.")

    daily = make_digest_app(
        KnownPulls(),
        profiles=app.profiles,
        touch_reports=SimpleNamespace(judge_merges=refuse),
        deprecations=SimpleNamespace(list_used_steps=lambda *_: ()),
    )

    def list_moves(days: int, profile: str) -> Sequence[ProfileMove]:
        day = LocalDay(NOON.date() + timedelta(days=days), DAY.zone)
        return build_digest(daily, REPOSITORY, day, "Engine", DigestView(profile=profile)).moves

    assert [list_moves(days, "ascend") for days in (-1, 0, 1)] == [(), (move,), ()]
    assert list_moves(0, "") == list_moves(0, "nobody") == ()


def keep_removal(app: App, number: int, name: str, days: int) -> None:
    merged = built_pull(number, merged_at=NOON - timedelta(days=days))
    app.merge_history.record_merges([merged])
    change = ContractChange(
        ContractClass.FUNCTION, ChangeKind.REMOVED, f"engine.core.{name}", "", "", "engine/core.py", 1
    )
    keep_contract(app, merged, MergeContract(number, merged.commit, merged.merge_time, "Drop", changes=(change,)))


class Team:
    """A tree with a pin, as commits of it follow."""

    def __init__(self, app: App, github: ScriptedGitHub) -> None:
        self.app, self.github, self.commits = app, github, [sha("merge 3")]
        core = "".join(f"def {name}(): ...\n" for name, _ in REMOVALS.values()).encode()
        commit(github, UPSTREAM, 0, {"engine/__init__.py": b"", "engine/core.py": core}, days_ago=50)
        for pin in PINS.values():
            app.merge_history.record_merges([pin])
            keep_contract(app, pin, MergeContract(pin.number, pin.commit, pin.merge_time, "Tell"))
        for number, removal in REMOVALS.items():
            keep_removal(app, number, *removal)

    def commit(self, pin: str, **uses: str) -> str:
        """Commit files that use functions of upstream, and a pin; return the commit."""
        number = 100 + len(self.commits)
        files = {f"plugin/{name}.py": f"from engine.core import {use}\n".encode() for name, use in uses.items()}
        files |= {"requirements.txt": f"engine @ git+https://github.com/octo/engine@{pin}\n".encode()}
        commit(self.github, SOURCE, number, files, days_ago=-number)
        self.commits.append(sha(f"merge {number}"))
        return self.commits[-1]

    def refresh(self) -> ProfileEntry:
        entry = refresh_profile(self.app, "ascend")
        assert entry is not None
        assert entry.problem == ""
        return entry

    def list_pending(self) -> tuple[int, int, str]:
        pending = find_pending(self.app, "ascend")
        assert pending is not None
        assert (pending.unread, pending.known_since) == (0, None)
        return len(pending.pulls), pending.pulls[0].number if pending.pulls else 0, pending.pin

    def list_closed(self) -> dict[int, str]:
        decisions = get_last_decisions(self.app, "ascend", UPSTREAM)
        return {number: each.words for number, each in sorted(decisions.items())}


ALL = {"a": "alpha", "b": "beta", "c": "gamma", "d": "delta"}


@pytest.mark.slow
def test_hits_close_themselves_as_the_pin_moves(app: App, github: ScriptedGitHub) -> None:
    team = Team(app, github)
    team.commit(FIRST, **ALL)
    add_profile(app, ENTRY)
    assert team.list_pending() == (4, 21, FIRST[:7])
    # one is adapted early, and another use is new: all merges since the pin are compared, not those of two weeks
    early = team.commit(FIRST, **{**ALL, "d": "rest", "new": "late"})
    (move,) = team.refresh().moves
    assert move.began == (MovedHit(25, "engine.core.late"),)
    assert move.ended == (MovedHit(24, "engine.core.delta"),)
    assert team.list_closed() == {24: f"adapted in {early[:10]}"}
    assert team.list_pending() == (4, 21, FIRST[:7])
    # what people say counts
    say(app, 22, TouchVerdict.OURS)
    synced = team.commit(SECOND, **{**ALL, "a": "rest", "d": "rest", "new": "late"})
    entry = team.refresh()
    assert entry.pin == PinnedMerge(SECOND, SECOND, PINS[SECOND].merge_time)
    # the new pin is past those that touch still
    assert entry.moves[-1].began == ()
    adapted = {21: f"adapted in {synced[:10]}", 24: f"adapted in {early[:10]}"}
    assert team.list_closed() == adapted | {22: "ours to do", 25: "behind your pin"}
    assert team.list_pending() == (1, 23, SECOND[:7])
    say(app, 23, TouchVerdict.NOT_US)
    assert team.list_pending() == (0, 0, SECOND[:7])
    # the sync is reverted: what still touches waits again
    team.commit(FIRST, **{**ALL, "a": "rest", "d": "rest", "new": "late"})
    team.refresh()
    assert team.list_closed() == adapted | {22: "ours to do", 23: "not us"}
    assert team.list_pending() == (2, 22, FIRST[:7])


@pytest.mark.slow
def test_a_pin_by_a_tag_goes_where_the_tag_goes(app: App, github: ScriptedGitHub) -> None:
    tags = {"v1.0.0": FIRST, "v1.1.0": FIRST}
    find_commit = lambda _, name: tags.get(name, "")  # noqa: E731
    app.sources.releases = SimpleNamespace(find_commit=find_commit, list_releases=lambda _: ())  # type: ignore[misc]
    team = Team(app, github)
    team.commit("v1.1.0", **ALL)
    add_profile(app, ENTRY)
    assert team.list_pending() == (4, 21, "v1.1.0")
    # moved upstream, then gone: what it was is the last that is known
    for commit in (SECOND, ""):
        tags["v1.1.0"] = commit
        app.cached.remove(TAG_COMMITS, str(UPSTREAM), "v1.1.0")
        assert team.refresh().pin == PinnedMerge("v1.1.0", SECOND, PINS[SECOND].merge_time)
        assert team.list_pending() == (2, 23, "v1.1.0")
    # back to an earlier one, on to the beginning of a hash, and to a branch
    team.commit("v1.0.0", **ALL)
    assert team.refresh().pin == PinnedMerge("v1.0.0", FIRST, PINS[FIRST].merge_time)
    assert team.list_pending() == (4, 21, "v1.0.0")
    team.commit(SECOND[:9], **ALL)
    assert team.refresh().pin == PinnedMerge(SECOND[:9], SECOND, PINS[SECOND].merge_time)
    assert team.list_pending() == (2, 23, SECOND[:7])
    team.commit("main", **ALL)
    assert team.refresh().pin is None


def say(app: App, number: int, verdict: TouchVerdict) -> None:
    record_decision(app, "ascend", TouchDecision(HitKey(Reference(UPSTREAM, number)), verdict, "U1", NOON))


class Dying(Profiles):
    """Ends the process before or while a profile is stored."""

    def put(self, entry: ProfileEntry, profile: Profile | None = None) -> None:
        if self.steps:
            super().put(entry)
        raise SystemExit

    steps = 0


@pytest.mark.slow
@pytest.mark.parametrize("steps", [0, 1])
def test_a_move_that_ends_in_between_loses_no_hit(app: App, github: ScriptedGitHub, steps: int) -> None:
    team = Team(app, github)
    team.commit(FIRST, **ALL)
    add_profile(app, ENTRY)
    synced = team.commit(SECOND, **{**ALL, "a": "rest"})
    living, dying = app.profiles, Dying(app)
    dying.steps = steps
    app.profiles = dying
    with pytest.raises(SystemExit):
        refresh_profile(app, "ascend")
    app.profiles = living
    team.refresh()
    assert team.list_closed() == {21: f"adapted in {synced[:10]}", 22: "behind your pin"}
    assert team.list_pending() == (2, 23, SECOND[:7])


@pytest.mark.slow
def test_two_processes_see_one_move(app: App, github: ScriptedGitHub) -> None:
    team = Team(app, github)
    team.commit(FIRST, **ALL)
    add_profile(app, ENTRY)
    synced = team.commit(SECOND, **{**ALL, "a": "rest"})
    with ThreadPoolExecutor(2) as both:
        entries = list(both.map(lambda _: team.refresh(), range(2)))
    assert {entry.commit for entry in entries} == {synced}
    assert team.list_closed() == {21: f"adapted in {synced[:10]}", 22: "behind your pin"}
    assert team.list_pending() == (2, 23, SECOND[:7])


def test_what_was_not_read_since_the_pin_is_told_and_never_zero(app: App, github: ScriptedGitHub) -> None:
    commit(github, SOURCE, 4, {"requirements.txt": f"engine @ git+https://x.org/o/engine@{FIRST}".encode()}, 0)
    add_profile(app, ENTRY)
    nothing = find_pending(app, "ascend")
    assert nothing
    # without mirrors
    assert not nothing.spent.coverage.is_complete
    spent = nothing.spent
    assert nothing == PendingHits(FIRST[:7], 40, (), 0, 0, NOON.date(), spent)
    assert as_read({"text": "", "blocks": render_pending(nothing)}) == (
        f"Merges before {NOON.date()} are not listed. "
        "None of the others is pending since your pin (a1a1a1a, 40 days)."
    )
    app.merge_history.record_merges([PINS[FIRST], PINS[SECOND]])
    unread = find_pending(app, "ascend")
    assert unread == PendingHits(FIRST[:7], 40, (), 1, 1, None, spent)
    late = PINS[SECOND]
    parts = (UnreadFile("engine/core.py", "it is too large"),)
    keep_contract(app, late, MergeContract(late.number, late.commit, late.merge_time, "Change", unread=parts))
    assert find_pending(app, "ascend") == unread
    assert "Not read in full since your pin: 1 of 1 merge. None of the others is pending" in as_read(
        {"text": "", "blocks": render_pending(unread)}
    )


@pytest.mark.slow
def test_what_the_team_ignores_by_hand_is_left_out(app: App, github: ScriptedGitHub) -> None:
    manual = b"ignore:\n  - path: plugin/\n    reason: a sample\n"
    commit(github, SOURCE, 4, {"plugin/worker.py": PLUGIN, ".prdigest-profile.yaml": manual}, days_ago=0)
    assert add(app).uses == ()
    commit(github, SOURCE, 5, {"plugin/worker.py": PLUGIN, ".prdigest-profile.yaml": b"ignore: 7"}, days_ago=-1)
    entry = refresh_profile(app, "ascend")
    assert entry is not None
    assert "The profile file is wrong" in entry.problem


def test_a_failure_is_part_of_the_entry_and_leaves_the_profile(app: App, github: ScriptedGitHub) -> None:
    first = add(app)
    github.fail_next("401", times=20)
    entry = refresh_profile(app, "ascend")
    assert entry is not None
    assert "GitHub rejected the token" in entry.problem
    assert app.profiles.get_profile("ascend") == first


def test_a_profile_from_a_file_is_linked_again(app: App) -> None:
    profile = add(app)
    plain = replace(profile, uses=tuple(replace(use, definitions=()) for use in profile.uses))
    linked = add(app, replace(ENTRY, source=None), plain)
    imported = next(use for use in linked.uses if use.kind is UseKind.IMPORT)
    assert (imported.definitions, linked.commit) == (("engine.core.Core",), profile.commit)


def test_one_that_is_removed_leaves_nothing_and_is_not_scanned(app: App, store: Redis) -> None:
    add(app)
    tomorrow = NOON + SCAN_INTERVAL
    assert [item for item, _ in app.due_queue.list_due(tomorrow)] == [ProfileRefresh("ascend")]
    remove_profile(app, "ascend")
    assert refresh_profile(app, "ascend") is None
    assert app.due_queue.list_due(tomorrow) == []
    assert [key for key in store.scan_iter("*") if b"ascend" in key] == []
    with pytest.raises(UsageError, match="no profile 'ascend'"):
        remove_profile(app, "ascend")


def test_without_a_source_of_files_the_reason_is_kept(store: Redis) -> None:
    bare = make_app(
        store, SimpleNamespace(source_trees=None, source_files=None, source_mirror=None, source_search=None)
    )
    entry = add_profile(bare, ENTRY)
    assert entry.problem == "There is no source of files here."


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("vllm.entrypoints.serving.stop", "vllm.entrypoints.serving.stop"),
        (f"vllm.entrypoints.{'serving.' * 10}stop", f"….{'serving.' * 10}stop"),
        ("x" * 100, f"…{'x' * 90}"),
    ],
)
def test_a_long_name_that_may_go_is_cut_at_a_dot_with_a_sign(name: str, shown: str) -> None:
    spent = SpentUse(Use(UseKind.PATCH, name, f"plugin/{'folder/' * 15}a.py", 3), "upstream does the same")
    text = as_read({"text": "", "blocks": render_spent(CoveredList((spent,)), 3)})
    assert text == f"May go\n  • …/{'folder/' * 12}a.py:3 replaces {shown}: upstream does the same"
