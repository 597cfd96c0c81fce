"""What a downstream's commits did about the merges of upstream that they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from impact.clones.followers import (
    MAX_EXCERPT,
    FollowedMerge,
    list_broken_names,
    list_pins,
    read_following,
)
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.git.clone_trees import open_clone_trees
from impact.history.causes import FollowingCommit, Response
from impact.testing.clones import building, needs_git

pytestmark = needs_git

MERGED = datetime(2026, 1, 5, tzinfo=UTC)
MERGES = {
    7: FollowedMerge(MERGED, frozenset({"take_blocks"})),
    8: FollowedMerge(MERGED),
    9: FollowedMerge(MERGED, frozenset({"load_weights"})),
}
USING = b"from engine.core import Cache\n\n\ndef grow(cache: Cache):\n    return cache.take_blocks(2)\n"
AFTER = USING.replace(b"take_blocks(2)", b"take_blocks(2, device)")


@dataclass
class Step:
    message: str
    files: dict[str, bytes | None] = field(default_factory=dict)
    at: datetime = MERGED + timedelta(days=3)


def follow(folder: Path, *steps: Step, begin: bytes = USING) -> list[FollowingCommit]:
    with building(folder / "plugin") as builder:
        builder.commit("Begin", {"plugin/grow.py": begin}, at=MERGED - timedelta(days=30))
        for step in steps:
            builder.commit(step.message, step.files, at=step.at)
    with open_clone_trees(folder / "plugin") as trees:
        return [*read_following(trees, ["engine"], MERGES, MERGED - timedelta(days=20))]


def get_facts(commits: Sequence[FollowingCommit]) -> list[tuple[int, Response]]:
    return [(each.number, each.response) for each in commits]


def test_a_commit_that_names_a_merge_is_shown_with_the_lines_from_which_a_name_went(tmp_path: Path) -> None:
    (commit,) = follow(
        tmp_path,
        Step("Fix growing\n\nIt broke by octo/engine#7.", {"plugin/grow.py": AFTER, "a.md": b"take_blocks"}),
    )
    assert (commit.number, commit.at, commit.response) == (7, MERGED + timedelta(days=3), Response.FIXED)
    assert (commit.title, commit.path) == ("Fix growing", "plugin/grow.py")
    assert commit.excerpt == ("-    return cache.take_blocks(2)", "+    return cache.take_blocks(2, device)")


@pytest.mark.parametrize(
    ("message", "numbers"),
    [
        ("Adapt to octo/engine#8 and fork/engine#7", [8, 7]),
        ("Follow engine PR #7 and engine pull request #8", [7, 8]),
        ("Upgrade engine\n\n1. https://github.com/octo/engine/pull/8, by engine #7", [8, 7]),
        ("Adapt to engine#7, engine#7 and octo/engine#7", [7]),
        ("[CI] Fix CI\n\nengine renamed it in\nhttps://github.com/octo/engine/pull/7", [7]),
    ],
)
def test_each_spelling_of_a_merge_counts_with_any_files(tmp_path: Path, message: str, numbers: list[int]) -> None:
    commits = follow(tmp_path, Step(message, {"README.md": b"new\n"}))
    assert [each.number for each in commits] == numbers
    assert {(each.path, each.excerpt) for each in commits} == {("", ())}


ROWS = {
    "a changed name alone": Step("Fix growing", {"plugin/grow.py": AFTER}),
    "before the merge": Step("Adapt to octo/engine#7", at=MERGED - timedelta(hours=1)),
    "a number of its own": Step("Adapt (#7)"),
    "another project": Step("Adapt to octo/engine-plugin#7 and octo/my-engine#7"),
    "a longer number": Step("Adapt to octo/engine#7000000000"),
    "a merge that is not known": Step("Adapt to octo/engine#99"),
    "what is only ported": Step("Cherry-pick octo/engine#7"),
    "what is only referred to": Step("Write docs\n\nSee octo/engine#7"),
}


@pytest.mark.parametrize("step", ROWS.values(), ids=ROWS)
def test_what_follows_no_merge(tmp_path: Path, step: Step) -> None:
    assert follow(tmp_path, step) == []


def test_a_revert_is_told_of_what_it_takes_back_and_of_what_it_names(tmp_path: Path) -> None:
    with building(tmp_path / "plugin") as builder:
        builder.commit("Begin", {"plugin/grow.py": USING}, at=MERGED)
        mark = builder.commit("Adapt to octo/engine#7", {"plugin/grow.py": AFTER}, at=MERGED + timedelta(days=1))
        sha = builder.sha(mark)
        text = f'Revert "Grow"\n\nThis reverts commit {sha[:12]}.'
        builder.commit(text, {"plugin/grow.py": USING}, at=MERGED + timedelta(days=2))
        builder.commit("[CI] Revert the bump\n\nIt has octo/engine#8.", {"pin": b"1"})
    with open_clone_trees(tmp_path / "plugin") as trees:
        commits = [*read_following(trees, ["engine"], MERGES, MERGED - timedelta(days=1))]
    assert get_facts(commits) == [(7, Response.ADAPTED), (7, Response.REVERTED), (8, Response.REVERTED)]
    assert [each.title for each in commits[1:]] == ['Revert "Grow"', "[CI] Revert the bump"]


def test_what_is_shown_is_bounded(tmp_path: Path) -> None:
    long = b"".join(b"    cache.take_blocks(%d, %s)\n" % (number, b"x" * 900) for number in range(50))
    named = " ".join(f"octo/engine#{number}" for number in range(100, 200))
    merges = {**MERGES, **dict.fromkeys(range(100, 200), FollowedMerge(MERGED, frozenset({"take_blocks"})))}
    with building(tmp_path / "plugin") as builder:
        builder.commit("Begin", {"plugin/grow.py": long}, at=MERGED)
        builder.commit(f"Fix {'x' * 5_000}\n\nIt broke by {named}", {"plugin/grow.py": b"import engine\n"})
    with open_clone_trees(tmp_path / "plugin") as trees:
        commits = [*read_following(trees, ["engine"], merges, MERGED)]
    assert len(commits) == 30
    assert {len(each.excerpt) for each in commits} == {MAX_EXCERPT // 2 + 1}
    assert max(max(map(len, (*each.excerpt, each.title))) for each in commits) <= 200


def test_names_that_say_enough_are_looked_for() -> None:
    names = (
        "engine.core.Cache.take_blocks",
        "engine.core.run",
        "engine.Layer.forward",
        "engine.core.KVCaches",
        "engine.core.Cache.__init__",
    )
    changes = tuple(
        ContractChange(ContractClass.FUNCTION, ChangeKind.REMOVED, name, "def f()", "", "core.py", 1)
        for name in names
    )
    assert list_broken_names(MergeContract(7, "c0", MERGED, changes=changes)) == {"take_blocks", "KVCaches"}


PINS = {
    "a hash in a workflow": (
        {".github/workflows/test.yaml": b"env:\n  ENGINE_COMMIT: 97f2f160fdaa\n"},
        "97f2f160fdaa",
    ),
    "a version": ({"requirements.txt": b"engine==1.4.0\n"}, "v1.4.0"),
    "nothing": ({"plugin/a.py": b"engine_version = 'v1.3.1'\n"}, ""),
}


@pytest.mark.parametrize(("files", "first"), PINS.values(), ids=PINS)
def test_the_newest_tree_says_what_it_pins(tmp_path: Path, files: dict[str, bytes | None], first: str) -> None:
    with building(tmp_path / "plugin") as builder:
        builder.commit("Begin", files)
    with open_clone_trees(tmp_path / "plugin") as trees:
        assert next(iter(list_pins(trees, ("engine",), "engine")), "") == first
