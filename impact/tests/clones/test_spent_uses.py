"""What may go at the end of a way: patches, overrides and copies whose reason upstream has taken away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from impact.clones.spent_uses import list_spent
from impact.clones.tree_scan import DownstreamTree
from impact.clones.upstream_reader import UpstreamReader
from impact.git.clone_trees import open_clone_trees
from impact.repository import Repository
from impact.testing.clones import building, needs_git
from impact.touches.spent import SpentUse, list_numbers

pytestmark = [pytest.mark.slow, needs_git]

NOW = datetime(2026, 1, 6, tzinfo=UTC)
BEFORE = '''
class Cache:
    def allocate(self, count):
        """Return blocks."""
        blocks = self.pool.take(count)
        self.used.extend(blocks)
        return blocks


def load(path):
    with open(path) as file:
        return parse_everything(file)
'''
FIXED = BEFORE.replace(
    "        blocks = self.pool.take(count)\n",
    "        if count > self.pool.available:\n            raise NoFreeBlocks(count, self.pool)\n"
    "        blocks = self.pool.take(count)\n",
)
PATCH = """
import engine.core
from engine.core import Cache


def allocate(self, count):
    if count > self.pool.available:
        raise NoFreeBlocks(count, self.pool)
    blocks = self.pool.take(count)
    self.used.extend(blocks)
    return blocks


{comment}
Cache.allocate = allocate
"""
OVERRIDE = """
from engine.core import Cache


class OwnCache(Cache):
    def allocate(self, count):
        {first}
        blocks = self.pool.take(count)
        self.used.extend(blocks)
        return blocks
"""
ROW = Mapping[str, str]


def find_spent(
    folder: Path,
    team: str,
    after: str,
    message: str = "Change (#7)",
    begin: str = "Begin (#1)",
    note: str = "",
    then: Sequence[str] = (),
    pin: int = 0,
) -> list[SpentUse]:
    with building(folder / "engine") as builder:
        builder.commit(begin, {"engine/__init__.py": b"", "engine/core.py": BEFORE.encode()})
        files = {"engine/core.py": after.encode()} if after != BEFORE else {"engine/other.py": b""}
        builder.commit(message, files)
        for place, each in enumerate(then):
            builder.commit(each, {"engine/later.py": b"LATER = %d" % place})
    with building(folder / "plugin") as builder:
        builder.commit("Begin", {"plugin/patches.py": team.encode(), "plugin/__init__.py": note.encode()})
    with open_clone_trees(folder / "engine") as upstream, open_clone_trees(folder / "plugin") as own:
        reader = UpstreamReader(upstream, Repository("octo", "engine"))
        first, last = upstream.list_line()[pin], upstream.list_line()[-1]
        profile = reader.scan(DownstreamTree(own, "plugin", NOW, packages=("engine",)), first.sha)
        way = reader.read_range(first.sha, last.sha)
        return [*list_spent(own, profile, upstream, way.start, way.end, way.merges, "octo/engine")]


ROWS = {
    "the change of the patch is upstream": (PATCH, FIXED, "upstream's function does the same"),
    "the same, and more": (
        PATCH,
        FIXED.replace(
            "        self.used.extend(blocks)\n", "        self.used.extend(blocks)\n        log(blocks)\n"
        ),
        "upstream's function has what it adds",
    ),
    "another change": (PATCH, FIXED.replace("NoFreeBlocks(count, self.pool)", "ValueError(count)"), ""),
    "nothing changed": (PATCH, BEFORE, ""),
    "half of the change": (
        PATCH,
        FIXED.replace("            raise NoFreeBlocks(count, self.pool)\n", "            pass\n"),
        "",
    ),
    "the function is gone": (PATCH, BEFORE.partition("\n\n\n")[0].replace("allocate", "take"), ""),
    "an override without a difference": (
        OVERRIDE.format(first='"""Ours."""'),
        FIXED,
        "it does what upstream did at the pin",
    ),
    "an override with another line": (OVERRIDE.format(first="self.check_the_device(count)"), FIXED, ""),
    "an alias": (
        PATCH.replace("Cache.allocate = allocate", "engine.core.load = allocate"),
        BEFORE.partition("def load")[0] + "from engine.fast import load_file\n\nload = load_file\n",
        "another name for engine.core.load now",
    ),
}


@pytest.mark.parametrize(("team", "after", "why"), ROWS.values(), ids=ROWS)
def test_a_reason_that_is_gone_is_known_by_code(tmp_path: Path, team: str, after: str, why: str) -> None:
    spent = find_spent(tmp_path, team.replace("{comment}", "# ours"), after)
    assert [each.why.endswith(why) and each.use.path for each in spent] == (["plugin/patches.py"] if why else [])


COMMENTS = {
    "its number": ("# until octo/engine#7 is merged", "Change (#7)", 7),
    "its address": ("# see https://github.com/octo/engine/pull/7", "Change (#7)", 7),
    "an issue that it closes": ("# works around #5", "Change (#7)\n\nFixes #5", 7),
    "an issue of another project that it closes": (
        "# works around #5",
        "Change (#7)\n\nFixes octo/other#5",
        0,
    ),
    "an issue that it closes with the project's name": (
        "# works around #5",
        "Change (#7)\n\nFixes Octo/Engine#5",
        7,
    ),
    "an issue that it does not close": ("# works around #5", "Change (#7)\n\nSee #5", 0),
    "one of another project": ("# see octo/other#7", "Change (#7)", 0),
    "another address": ("# see https://github.com/octo/other/pull/7", "Change (#7)", 0),
    "one that is not merged": ("# until #8 is merged", "Change (#7)", 0),
    "no number": ("# until 7 is merged", "Change (#7)", 0),
}


@pytest.mark.parametrize(("comment", "message", "merge"), COMMENTS.values(), ids=COMMENTS)
def test_what_a_comment_waits_for_was_merged(tmp_path: Path, comment: str, message: str, merge: int) -> None:
    spent = find_spent(tmp_path, PATCH.replace("{comment}", comment), BEFORE, message)
    assert [(each.why, each.merge and each.merge.number) for each in spent] == (
        [("the change that its comment names was merged", merge)] if merge else []
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def allocate", "# until #7 is merged\ndef allocate"),
        ("count):\n", 'count):\n    """Fill the gap until #7 is merged."""\n'),
        ("{comment}\nCache.allocate = allocate", 'setattr(Cache, "allocate", allocate)  # until #7 is merged'),
    ],
    ids=["above the function", "in its docstring", "beside another way to replace"],
)
def test_what_stands_at_the_function_that_is_put_in_place_counts(tmp_path: Path, old: str, new: str) -> None:
    spent = find_spent(tmp_path, PATCH.replace(old, new).replace("{comment}\n", ""), BEFORE, "Change (#7)")
    assert [each.merge and each.merge.number for each in spent] == [7]


KEEP = "Keep the order of all requests (#7)"
REVERT, AGAIN = f'Revert "{KEEP}" (#8)', f'Revert "Revert "{KEEP}" (#8)" (#9)'
# what is merged first, what then, at which place the pin is, and what the comment that waits for #7 names then
TAKEN_BACK: Mapping[str, tuple[str, Sequence[str], int, int | None]] = {
    "reverted": (KEEP, (REVERT,), 0, None),
    "reverted, and that too": (KEEP, (REVERT, AGAIN), 0, 7),
    "in the pin": (KEEP, (), 1, 7),
    "reverted before the pin": (KEEP, (REVERT,), 2, None),
    "reverted before the pin by a commit": (KEEP, (f'Revert "{KEEP}"', "More (#9)"), 2, None),
    "reverted after the pin": (KEEP, (REVERT,), 1, None),
    "reverted before the pin, and that too": (KEEP, (REVERT, AGAIN, "More (#10)"), 3, 7),
    "reverted before the pin, and that too after it": (KEEP, (REVERT, AGAIN), 2, 7),
    "its issue": (
        "Keep the order of all (#5)\n\nFixes #7",
        ('Revert "Keep the order of all (#5)" (#8)',),
        2,
        None,
    ),
}


@pytest.mark.parametrize(("title", "then", "pin", "merge"), TAKEN_BACK.values(), ids=TAKEN_BACK)
def test_nothing_waits_for_what_was_taken_back(
    tmp_path: Path, title: str, then: Sequence[str], pin: int, merge: int | None
) -> None:
    team = PATCH.replace("{comment}", "# until #7 is merged")
    spent = find_spent(tmp_path, team, BEFORE, title, then=then, pin=pin)
    assert [each.merge and each.merge.number for each in spent] == ([merge] if merge else [])


def test_numbers_of_a_comment_are_bounded() -> None:
    assert list_numbers("".join(f" #{number}" for number in range(1, 90_000)), "octo/engine") == [1, 2, 3, 4, 5]
    assert list_numbers("#" * 100_000 + "a/" * 50_000, "octo/engine") == []


NOTE = "# ** File: plugin/patches.py **\n#   1. `engine.core.Cache.allocate`\n#   {text}\n"
NOTES = {
    "a merge on the way": ("see #7", "Begin (#1)", "the change that its comment names was merged"),
    "a merge that the pin has": (
        "Remove this patch when #1 is merged",
        "Begin (#1)",
        "the change that its comment names was merged before your pin",
    ),
    "an issue that the pin has closed": (
        "until octo/engine#5 is closed",
        "Begin (#1)\n\nFixes #5",
        "the change that its comment names was merged before your pin",
    ),
    "what it is made of": ("taken from #1", "Begin (#1)", ""),
    "what stays": ("Keep this patch, see #1", "Begin (#1)", ""),
    "one that mentions it": ("until #5 is merged", "Begin (#1)\n\nSee #5", ""),
    "a longer number": ("until #1 is merged", "Begin (#12)", ""),
}


@pytest.mark.parametrize(("text", "begin", "why"), NOTES.values(), ids=NOTES)
def test_what_a_note_elsewhere_waits_for_was_merged(tmp_path: Path, text: str, begin: str, why: str) -> None:
    spent = find_spent(tmp_path, PATCH, BEFORE, begin=begin, note=NOTE.format(text=text))
    assert [each.why for each in spent] == ([why] if why else [])


def test_the_difference_of_both_bodies_is_shown(tmp_path: Path) -> None:
    last = "        self.used.extend(blocks)\n"
    after = FIXED.replace(last, f"{last}        log(blocks)\n")
    [spent] = find_spent(tmp_path, PATCH, after)
    changed = [line for line in spent.difference.split("\n") if line[:1] in "+-"]
    assert changed == ["--- upstream", "+++ ours", '-    """Return blocks."""', "-    log(blocks)"]
