"""What a downstream's commits did about merges of upstream: those they name, and names that went from lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from impact.clones.followers import (
    MAX_EXCERPT,
    REACH,
    ChangedName,
    ChangedNames,
    list_changed_names,
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
    7: ChangedNames(7, MERGED, {"take_blocks": ChangedName("Cache")}),
    8: ChangedNames(8, MERGED, {}),
    9: ChangedNames(9, MERGED, {"load_weights": ChangedName("loader", is_gone=True)}),
    10: ChangedNames(10, MERGED, {"KVConnector": ChangedName("core", is_gone=True, new_name="KVTransfer")}),
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


def get_facts(commits: Sequence[FollowingCommit]) -> list[tuple[int, Response, bool, str]]:
    return [(each.number, each.response, each.is_named, each.name) for each in commits]


def test_a_commit_that_changes_a_changed_name_is_shown_with_these_lines(tmp_path: Path) -> None:
    (commit,) = follow(tmp_path, Step("Fix growing\n\nIt failed.", {"plugin/grow.py": AFTER}))
    assert (commit.number, commit.name, commit.is_named) == (7, "take_blocks", False)
    assert (commit.title, commit.path, commit.response) == ("Fix growing", "plugin/grow.py", Response.FIXED)
    assert commit.excerpt == ("-    return cache.take_blocks(2)", "+    return cache.take_blocks(2, device)")
    assert commit.at == MERGED + timedelta(days=3)


def test_a_commit_that_names_a_merge_follows_it_with_any_files(tmp_path: Path) -> None:
    named = Step("Adapt to octo/engine#8 and octo/engine#7", {"README.md": b"new\n"})
    both = Step("Follow engine PR #7", {"plugin/grow.py": AFTER}, MERGED + timedelta(days=4))
    assert get_facts(follow(tmp_path, named, both)) == [
        (8, Response.ADAPTED, True, ""),
        (7, Response.ADAPTED, True, ""),
        (7, Response.ADAPTED, True, "take_blocks"),
    ]


LOST = b"from engine.core import KVConnector\nfrom engine.loader import load_weights\n"


@pytest.mark.parametrize(
    ("after", "numbers"),
    [
        (b"from engine.core import KVConnector\n", [9]),
        (b"from engine.core import KVTransfer\nfrom engine.loader import load_weights\n", [10]),
        (b"from engine.loader import load_weights\n", []),
        (b"from engine.core import KVTransfer\n", [9, 10]),
        (None, []),
    ],
    ids=["gone", "renamed", "gone, but upstream renamed it", "both", "a file that is gone"],
)
def test_a_name_that_upstream_took_away_is_no_longer_used(
    tmp_path: Path, after: bytes | None, numbers: list[int]
) -> None:
    commits = follow(tmp_path, Step("Change", {"plugin/grow.py": after}), begin=LOST)
    assert sorted(each.number for each in commits) == numbers


ROWS = {
    "a call that went": Step("Drop", {"plugin/grow.py": b"from engine.core import Cache\n"}),
    "another layout": Step("Format", {"plugin/grow.py": USING.replace(b"(2)", b"(\n        2,\n    )")}),
    "a line that is no code": Step(
        "Say", {"plugin/grow.py": USING.replace(b"    return", b"    # take_blocks(2)\n    return")}
    ),
    "before the merge": Step("Grow", {"plugin/grow.py": AFTER}, MERGED - timedelta(hours=1)),
    "long after it": Step("Grow", {"plugin/grow.py": AFTER}, MERGED + REACH + timedelta(hours=1)),
    "a line that only moved": Step("Move", {"plugin/grow.py": None, "plugin/other.py": USING}),
    "a line that only moved in part": Step(
        "Move", {"plugin/grow.py": b"import engine, Cache\n", "plugin/other.py": USING + b"#\n"}
    ),
    "another line of the file": Step("Tidy", {"plugin/grow.py": USING + b"# more\n"}),
    "a file that is no code": Step("Write", {"notes.md": b"engine Cache take_blocks\n"}),
    "a number of its own": Step("Adapt (#7)"),
    "a merge that is not known": Step("Adapt to octo/engine#99"),
    "what is only ported": Step("Cherry-pick octo/engine#7"),
}


@pytest.mark.parametrize("step", ROWS.values(), ids=ROWS)
def test_what_follows_no_merge(tmp_path: Path, step: Step) -> None:
    assert follow(tmp_path, step) == []


@pytest.mark.parametrize(
    "begin",
    [
        USING.replace(b"engine", b"motor"),
        USING.replace(b"Cache", b"Store"),
        b"from engine.core import Cache\n\n\nretake_blocks = 1\n",
    ],
    ids=["of another package", "of another class", "a part of a longer name"],
)
def test_the_same_word_of_something_else_does_not_count(tmp_path: Path, begin: bytes) -> None:
    assert follow(tmp_path, Step("Change", {"plugin/grow.py": b"import engine\n"}), begin=begin) == []


def test_a_revert_is_told_of_what_it_takes_back_and_of_what_it_names(tmp_path: Path) -> None:
    with building(tmp_path / "plugin") as builder:
        builder.commit("Begin", {"plugin/grow.py": USING}, at=MERGED)
        mark = builder.commit("Grow", {"plugin/grow.py": AFTER}, at=MERGED + timedelta(days=1))
        sha = builder.sha(mark)
        text = f'Revert "Grow"\n\nThis reverts commit {sha[:12]}.'
        builder.commit(text, {"plugin/grow.py": USING}, at=MERGED + timedelta(days=2))
        builder.commit("[CI] Revert the bump\n\nIt has octo/engine#8.", {"pin": b"1"})
    with open_clone_trees(tmp_path / "plugin") as trees:
        grown, reverted, named = read_following(trees, ["engine"], MERGES, MERGED - timedelta(days=1))
    assert (grown.response, reverted.response, reverted.number) == (Response.ADAPTED, Response.REVERTED, 7)
    assert reverted.title == 'Revert "Grow"'
    assert (named.number, named.response, named.is_named) == (8, Response.REVERTED, True)


def test_what_is_shown_is_bounded(tmp_path: Path) -> None:
    long = b"".join(b"    cache.take_blocks(%d, %s)\n" % (number, b"x" * 900) for number in range(50))
    steps = Step("x" * 5_000, {"plugin/grow.py": b"import engine\ncache.take_blocks()\n"})
    (commit,) = follow(tmp_path, steps, begin=b"from engine import Cache\n" + long)
    assert len(commit.excerpt) == MAX_EXCERPT
    assert max(map(len, (*commit.excerpt, commit.title))) <= 200


def test_a_sweep_shows_nothing_about_one_merge(tmp_path: Path) -> None:
    with building(tmp_path / "plugin") as builder:
        files = {f"plugin/a{number}.py": USING for number in range(201)}
        builder.commit("Begin", files, at=MERGED)
        builder.commit("Reformat", dict.fromkeys(files, AFTER), at=MERGED + timedelta(days=1))
    with open_clone_trees(tmp_path / "plugin") as trees:
        assert [*read_following(trees, ["engine"], MERGES, MERGED)] == []


def test_names_that_say_enough_are_looked_for() -> None:
    names = ("engine.core.Cache.take_blocks", "engine.core.run", "engine.utils.utilities", "engine.core.KVCaches")
    changes = tuple(
        ContractChange(ContractClass.FUNCTION, ChangeKind.REMOVED, name, "def f()", "", "core.py", 1)
        for name in names
    )
    contract = MergeContract(7, "c0", MERGED, changes=changes)
    gone = ChangedName("Cache", is_gone=True), ChangedName("core", is_gone=True)
    assert list_changed_names(contract).names == dict(zip(("take_blocks", "KVCaches"), gone, strict=True))


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
