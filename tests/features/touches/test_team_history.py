"""What the clone of a team's code says: real mirrors, a real store, and hostile subjects."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Timer

import pytest
from redis import Redis

from bot.features.touches.lines import TeamLessons, render_lessons
from bot.features.touches.tasks import build_agent_task, render_agent_task
from bot.features.touches.team_history import find_spent, read_lessons
from bot.platform import deadlines
from bot.platform.deadlines import ProcessShutdown, ShutdownSignal
from bot.platform.git.folder import MirrorFolder
from impact.contract.models import MergeContract
from impact.repository import Repository
from impact.testing.clones import building, needs_git
from impact.touches.models import MergeTouches, TouchLevel
from tests.features.touches.worlds import ENTRY, PROFILE, open_app
from tests.helpers.builders import NOON, REPOSITORY, pull
from tests.helpers.mirrors import fill_mirror, put_mirror

pytestmark = [needs_git, pytest.mark.slow]

TEAM, NAME = Repository("octo", "plugin"), "engine.core.run"
CALL = b"from engine.core import run\n\nrun(1)\n"
HOSTILE = (
    "Adapt to engine <!channel> <@U0ADA> [x](https://evil.example) `a` ghp_" + "a1B2" * 9 + "\u202e" + "y" * 400
)


class History:
    """A bot with mirrors of an upstream and of a team, which adapted twice."""

    def __init__(self, store: Redis, folder: Path, subject: str = "Adapt to engine 2") -> None:
        self.root, self.store = folder / "mirrors", store
        self.start, self.end = put_mirror(
            self.root, str(REPOSITORY), [{"engine/core.py": b"def run(a):\n    return a\n"}, {"readme.md": b"x"}]
        )
        with building(folder / "team") as builder:
            marks = [
                builder.commit("Begin", {"plugin/a.py": CALL}),
                builder.commit("Adapt to engine 1", {"plugin/a.py": CALL.replace(b"1)", b"1, b=2)")}),
                builder.commit(subject, {"plugin/a.py": CALL.replace(b"1)", b"1, c=2)")}),
            ]
            self.commits = [builder.sha(mark) for mark in marks]
        fill_mirror(self.root, str(TEAM), folder / "team")
        self.app = open_app(store)
        self.app.settings = self.app.settings.model_copy(update={"prdigest_mirror": self.root})
        self.entry = replace(ENTRY, source=TEAM)
        self.profile = replace(PROFILE, commit=self.commits[-1])

    def render_task(self, known: TeamLessons) -> str:
        merge, contract = MergeTouches(7, "x", "c0", TouchLevel.BREAKS, 1.0), MergeContract(7, "c0", NOON, "x")
        classes = self.app.paths.get_path_classes(REPOSITORY)
        return render_agent_task(
            replace(build_agent_task(pull(7), merge, contract, self.profile, classes), lessons=known)
        )

    def remove_mirrors(self) -> None:
        MirrorFolder(self.root, TEAM).path.rename(self.root / "away")


@pytest.fixture(autouse=True)
def _set_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRDIGEST_REPO", str(REPOSITORY))


@pytest.fixture
def history(store: Redis, tmp_path: Path) -> History:
    return History(store, tmp_path)


def test_the_commits_that_adapted_are_told_newest_first_and_kept(history: History) -> None:
    known = read_lessons(history.app, history.entry, history.profile, [NAME, "engine.core.other"])
    assert known.gap == ""
    assert [each.subject for each in known.by_name[NAME]] == ["Adapt to engine 2", "Adapt to engine 1"]
    assert known.by_name["engine.core.other"] == ()
    line = render_lessons(known.by_name[NAME], known)
    second, first = history.commits[2], history.commits[1]
    assert [(each["text"], each.get("url", "")) for each in line] == [
        ("You adapted to this twice: ", ""),
        (f"{second[:7]} Adapt to engine 2", f"https://github.com/octo/plugin/commit/{second}"),
        (", ", ""),
        (first[:7], f"https://github.com/octo/plugin/commit/{first}"),
        (".", ""),
    ]
    # from here on nothing is read any more
    history.remove_mirrors()
    assert read_lessons(history.app, history.entry, history.profile, [NAME, "engine.core.other"]) == known
    other = read_lessons(history.app, history.entry, history.profile, [NAME, "engine.core.third"])
    assert (other.gap, [*other.by_name]) == (
        "the mirror of octo/plugin can't be used: there is no mirror yet",
        [NAME],
    )


def test_what_is_not_at_hand_is_said_where_it_was_asked_for(history: History) -> None:
    file = replace(history.entry, source=None)
    assert read_lessons(history.app, file, history.profile, [NAME]).gap == (
        "the profile is from a file, so your code is not at hand"
    )
    history.app.settings = history.app.settings.model_copy(update={"prdigest_mirror": Path("off")})
    known = read_lessons(history.app, history.entry, history.profile, [NAME])
    assert known.gap == "this bot keeps no mirror of the repositories"
    assert not known.by_name.get(NAME)


def test_a_subject_is_another_s_text(store: Redis, tmp_path: Path) -> None:
    history = History(store, tmp_path, HOSTILE)
    known = read_lessons(history.app, history.entry, history.profile, [NAME])
    shown = json.dumps(render_lessons(known.by_name[NAME], known))
    text = history.render_task(known)
    assert "## How we adapted before" in text
    for each in (shown, text):
        assert "a1B2a1B2" not in each
        assert "\u202e" not in each
        assert "y" * 120 not in each
    # no mention and no link comes alive
    assert "<!channel>" not in text
    assert "](https://evil" not in text
    assert "`plugin/a.py`" in text


def test_a_task_says_that_the_history_could_not_be_read(history: History) -> None:
    history.remove_mirrors()
    known = read_lessons(history.app, history.entry, history.profile, [NAME])
    assert "The history of our code could not be read: the mirror of" in history.render_task(known)


def test_what_may_go_is_looked_for_once_for_a_commit_and_a_way(history: History) -> None:
    def find(commit: str, end: str) -> str:
        profile = replace(history.profile, commit=commit)
        return find_spent(history.app, history.entry, profile, history.start, end, []).explain_gaps()

    assert find(history.commits[2], history.end) == ""
    history.remove_mirrors()
    assert find(history.commits[2], history.end) == ""
    assert "there is no mirror yet" in find(history.commits[1], history.end)
    assert "there is no mirror yet" in find(history.commits[2], history.start)


# --- a git that comes to no end


@pytest.fixture
def hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make one of git's commands hang from here on; none with an empty name."""
    program, real = tmp_path / "bin" / "git", shutil.which("git")

    def put(command: str) -> None:
        program.parent.mkdir(exist_ok=True)
        hanging = f'case " $* " in *" {command} "*) exec sleep 60;; esac\n' if command else ""
        program.write_text(f'#!/bin/sh\n{hanging}exec {real} "$@"\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    return put


def look(history: History, what: str) -> str:
    """Look for what may go, or for lessons; give why that was not possible."""
    if what == "lessons":
        return read_lessons(history.app, history.entry, history.profile, [NAME]).gap
    return find_spent(history.app, history.entry, history.profile, history.start, history.end, []).explain_gaps()


@pytest.mark.parametrize(
    ("what", "command"),
    [*(("lessons", each) for each in ("rev-list", "diff-tree", "cat-file")), ("may go", "ls-tree")],
)
def test_a_look_ends_with_its_time(history: History, hang: Callable[[str], None], what: str, command: str) -> None:
    hang(command)
    began = time.monotonic()
    with deadlines.bound_work(8.0):
        assert "reading the mirrors took too long" in look(history, what)
        assert deadlines.get_seconds_left() > 0.0, "no time is left to say so"
    assert time.monotonic() - began < 30.0
    # who had little time keeps nothing from others
    hang("")
    assert look(history, what) == ""


def test_a_look_ends_with_its_process(history: History, hang: Callable[[str], None]) -> None:
    hang("rev-list")
    ending = ShutdownSignal()
    timer = Timer(0.5, ending.trigger)
    timer.start()
    with deadlines.bound_work(60.0, ending), pytest.raises(ProcessShutdown):
        look(history, "lessons")
    timer.join()
