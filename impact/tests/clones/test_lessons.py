"""How a team adapted to a name before: which of its commits are lessons, and which only look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from impact.clones.lessons import Lesson, find_lessons
from impact.git.clone_trees import open_clone_trees
from impact.testing.clones import building, needs_git

pytestmark = [pytest.mark.slow, needs_git]

NAME, METHOD = "engine.core.make", "engine.core.Scheduler.schedule"
CALL = "from engine.core import make\n\nvalue = make(1)\n"
OTHER = CALL.replace("make(1)", 'make(1, device="cpu")')
GUARDED = CALL.replace(
    "value = make(1)\n",
    'if version_is("1.0"):\n    value = make(1)\nelse:\n    value = make(1, device="cpu")\n',
)
OVERRIDE = """
from engine.core import Scheduler


class Own(Scheduler):
    def schedule(self):
        return self.take({})
"""
UPSTREAM = """
class Scheduler:
    def schedule(self):
        return self.take({})


def make(config):
    return config
"""
FOLLOWS, PLAIN = "Adapt to engine main", "Run on the device"


def find(
    folder: Path, message: str | bytes, before: str, after: dict[str, bytes | None], name: str, changed: str = ""
) -> list[Lesson]:
    """The lessons of a commit with a message, which makes ``after`` of a file that was ``before``."""
    with building(folder / "engine") as builder:
        builder.commit("Begin (#1)", {"engine/core.py": UPSTREAM.encode(), "engine/__init__.py": b""})
        builder.commit("Change it (#12)", {"engine/core.py": (changed or UPSTREAM + "\n\nlast = 1\n").encode()})
    with building(folder / "team") as builder:
        builder.commit("Adapt to engine 0.1", {"ours/a.py": before.encode()})
        builder.commit(message, after)
        builder.commit("Adapt the readme to engine", {"readme.md": b"make"})
    with open_clone_trees(folder / "engine") as upstream, open_clone_trees(folder / "team") as team:
        head = team.find_head()
        lessons = find_lessons(team, head, [name], ["engine"], upstream, "engine")
        # a commit after the one that was scanned is not known yet
        first = team.list_line()[0].sha
        assert find_lessons(team, first, [name], ["engine"], upstream, "engine") == {name: ()}
    assert [*lessons] == [name]
    return [*lessons[name]]


def a(text: str) -> dict[str, bytes | None]:
    return {"ours/a.py": text.encode()}


MANY = {f"ours/more{at}.py": b"" for at in range(120)}
ROWS: dict[str, tuple[str, str, dict[str, bytes | None], int]] = {
    "another call": (FOLLOWS, CALL, a(OTHER), 1),
    "another call, by a body that names the merge": (
        f"{PLAIN}\n\nThis was changed in octo/engine#12.",
        CALL,
        a(OTHER),
        1,
    ),
    "a guard": (FOLLOWS, CALL, a(GUARDED), 1),
    "a move upstream": (FOLLOWS, CALL.replace("engine.core", "engine.old"), a(CALL), 1),
    "a guard that goes": (FOLLOWS, GUARDED, a(OTHER), 0),
    "another word in the message": (PLAIN, CALL, a(OTHER), 0),
    "another project in the message": ("Adapt to engine-fork", CALL, a(OTHER), 0),
    "a new format": (FOLLOWS, OTHER, a(OTHER.replace("(1, ", "(\n    1,\n    ").replace('u")', 'u",\n)')), 0),
    "another value": (FOLLOWS, CALL, a(CALL.replace("(1)", "(2)")), 0),
    "a moved line": (FOLLOWS, CALL, a(CALL.replace("value", "\n\nanother")), 0),
    "a moved file": (FOLLOWS, CALL, {"ours/a.py": None, "ours/b.py": CALL.encode()}, 0),
    "a new use": (FOLLOWS, CALL, {"ours/b.py": OTHER.encode()}, 0),
    "a use that goes": (FOLLOWS, CALL, a("value = 1\n"), 0),
    "a test": (FOLLOWS, CALL, {"tests/test_a.py": OTHER.encode()}, 0),
    "many files": (FOLLOWS, CALL, {**MANY, **a(OTHER)}, 0),
    "one of ours": (
        FOLLOWS,
        CALL.replace("engine", "ours"),
        a(OTHER.replace("engine", "ours")),
        0,
    ),
    "a file that can't be parsed": (FOLLOWS, CALL, a(f"{OTHER}\n)("), 0),
}


@pytest.mark.parametrize(("message", "before", "after", "count"), ROWS.values(), ids=ROWS)
def test_a_commit_that_follows_a_change_is_a_lesson(
    tmp_path: Path, message: str, before: str, after: dict[str, bytes | None], count: int
) -> None:
    lessons = find(tmp_path, message, before, after, NAME)
    subject = message.partition("\n")[0]
    assert [(each.subject, each.paths, each.number) for each in lessons] == [(subject, ("ours/a.py",), 0)] * count


CHANGED = UPSTREAM.replace("{}", "[]")


@pytest.mark.parametrize(
    ("message", "changed", "number"),
    [
        ("Follow vendor/engine#12", CHANGED, 12),
        # the merge that it names changed something else
        ("Follow vendor/engine#12", "", None),
        (FOLLOWS, CHANGED, None),
    ],
)
def test_another_body_is_a_lesson_of_the_merge_that_changed_the_function(
    tmp_path: Path, message: str, changed: str, number: int | None
) -> None:
    own = a(OVERRIDE.replace("{}", "[]"))
    lessons = find(tmp_path, message, OVERRIDE, own, METHOD, changed)
    assert [each.number for each in lessons] == ([] if number is None else [number])


def test_names_that_no_code_has_are_passed_over(tmp_path: Path) -> None:
    with building(tmp_path / "team") as builder:
        builder.commit(FOLLOWS, a(CALL))
    with open_clone_trees(tmp_path / "team") as team:
        names = ["--max-len", "VLLM_USE", "", "a b.c"]
        assert find_lessons(team, team.find_head(), names, ["engine"], team, "engine") == {}
