"""Judgements on real changes of code, through GitHub's emulator, the extraction and a real store; and pins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import pytest
from redis import Redis

from bot.app import App
from bot.errors import RateLimited, TimeLimitExceeded, UsageError
from bot.features.digest.service import read_touches
from bot.features.profiles.scanning import find_pin
from bot.features.profiles.service import ProfileEntry
from bot.features.touches.service import judge_merges, plan_upgrade
from bot.platform import deadlines
from bot.platform.pulls.models import PullRequest
from bot.platform.worker_threads import follow_progress
from impact.profile.models import Use, UseKind
from impact.repository import Repository
from impact.touches.models import TouchLevel
from tests.emulators.github.store import sha
from tests.features.touches.worlds import BEFORE, CALL, ENTRY, PROFILE, add_merge, open_app
from tests.helpers.builders import REPOSITORY, changed_file, pull
from tests.helpers.doubles import KnownPulls
from tests.helpers.worlds import ScriptedGitHub

KNOWN, OTHER = "a1" * 20, "b2" * 20


class Planted:
    """Fails whoever asks it anything."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError("planted")

    def __iter__(self) -> NoReturn:
        raise RuntimeError("planted")

    __len__ = __iter__


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        yield emulator


@pytest.fixture
def app(github: ScriptedGitHub, store: Redis) -> App:
    app = open_app(store, github)
    app.profiles.put(ENTRY, PROFILE)
    return app


def test_a_removed_function_breaks_its_caller(app: App, github: ScriptedGitHub) -> None:
    quiet = BEFORE | {"engine/core.py": b"# quiet\n" + BEFORE["engine/core.py"]}
    report, _ = judge_merges(app, "Ascend", [add_merge(github, 1, quiet), add_merge(github, 2)])
    assert (report.profile, report.merges, report.uses) == ("ascend", 2, 1)
    assert report.touching.coverage.is_complete
    [hit] = report.touching.ignore_coverage()
    assert (hit.number, hit.level, hit.touches[0].use) == (2, TouchLevel.BREAKS, CALL)
    assert len(github.calls) == 2


def test_a_profile_that_moved_judges_again_without_a_call(app: App, github: ScriptedGitHub) -> None:
    pulls = [add_merge(github, 2)]
    app.profiles.put(ENTRY, replace(PROFILE, uses=()))
    assert judge_merges(app, "ascend", pulls)[0].touching.is_empty
    app.profiles.put(ENTRY, PROFILE)
    assert [hit.number for hit in judge_merges(app, "", pulls)[0].touching.ignore_coverage()] == [2]
    assert len(github.calls) == 1


def test_a_merge_that_cannot_be_read_takes_one_call(app: App, github: ScriptedGitHub) -> None:
    gone = pull(3, files=[changed_file("engine/core.py")], merge_commit=sha("gone"))
    _, contracts = judge_merges(app, "ascend", [add_merge(github, 2), gone])
    assert [contract.number for contract in contracts] == [2, 3]
    assert [file.path for file in contracts[1].unread] == ["engine/core.py"]
    assert len(github.calls) == 2


def test_a_defect_costs_a_digest_what_touches_and_the_merge_that_meets_it_alone_its_own(
    app: App, github: ScriptedGitHub, caplog: pytest.LogCaptureFixture
) -> None:
    pulls = [add_merge(github, number) for number in (2, 3)]
    bad = replace(pulls[1], files=cast("Any", Planted()))
    day = read_touches(app, "ascend", [pulls[0], bad])
    assert (set(day.numbers), [len(each.unread) for each in day.contracts]) == ({2}, [0, 1])
    app.__dict__["profiles"] = Planted()
    assert read_touches(app, "ascend", pulls).coverage.gaps == ["what touches ascend (reading it failed)"]
    told = [str(record.exc_info[1]) for record in caplog.records if record.exc_info]
    assert told == ["planted", "planted"]


def test_merges_of_another_repository_are_left_out(app: App, github: ScriptedGitHub) -> None:
    app.profiles.put(replace(ENTRY, upstream=Repository("octo", "other")))
    assert judge_merges(app, "ascend", [add_merge(github, 2)])[0].merges == 0
    assert github.calls == []


@pytest.mark.parametrize(
    ("entries", "name", "sentence"),
    [
        ([], "", "don't know your code yet"),
        ([ENTRY], "a b", "no profile 'a b': use ascend"),
        ([ENTRY], "ascend", "was not scanned yet"),
    ],
)
def test_what_is_missing_is_said(store: Redis, entries: list[ProfileEntry], name: str, sentence: str) -> None:
    app = open_app(store)
    for entry in entries:
        app.profiles.put(entry)
    with pytest.raises(UsageError, match=sentence):
        judge_merges(app, name, [])


# --- the way to a later commit


@pytest.mark.slow
def test_a_long_way_is_read_in_steps_and_goes_on_where_it_ended(app: App, github: ScriptedGitHub) -> None:
    pulls = tuple(add_merge(github, number) for number in range(1, 121))
    pin = replace(pulls[0], number=999, merged_at=pulls[0].merge_time.replace(minute=0, hour=0))
    app.pulls = app.day_lists = KnownPulls(pulls)
    github.set_limit("graphql", 70)
    with follow_progress() as progress, pytest.raises(RateLimited):
        plan_upgrade(app, pin, ENTRY)
    # it hears of each merge
    assert 50 <= progress.done <= 70
    assert progress.total == 120
    github.set_limit("graphql", 5_000)
    read = len(github.calls)
    assert plan_upgrade(app, pin, ENTRY).merges == 120
    assert len(github.calls) - read <= 120 - 50
    with deadlines.bound_work(0.0), pytest.raises(TimeLimitExceeded, match="read 0 of 120 merges, and keep them"):
        plan_upgrade(app, pin, ENTRY)


class Merges:
    """One merge that is known by its hash."""

    def find_merges(self, _: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        return {each: pull(7, merge_commit=KNOWN) for each in commits if KNOWN.startswith(each)}


@pytest.fixture
def pins(store: Redis) -> App:
    releases = SimpleNamespace(find_commit=lambda repository, tag: KNOWN if tag == "v1.2.0" else "")
    return open_app(store, background=Merges(), releases=releases)


def pin(name: str, text: str) -> Use:
    return Use(UseKind.PIN, name, "requirements.txt", 1, text)


@pytest.mark.parametrize(
    ("start", "uses", "name"),
    [
        *((start, [], start) for start in (KNOWN, KNOWN[:8], "v1.2.0")),
        ("", [pin("engine", f"ENGINE_COMMIT={KNOWN}")], KNOWN),
        ("", [pin("action", f"uses: a/b@{OTHER}"), pin("engine", f"engine @ {KNOWN}")], KNOWN),
        ("", [pin("torch", "torch==1.2.0"), pin("engine", "engine == 1.2.0")], "v1.2.0"),
        ("", [pin("engine", f'engine = {{ git = "x", rev = "{KNOWN[:10]}" }}')], KNOWN[:10]),
        ("", [pin("engine", "FROM engine/engine-openai:v1.2.0-cu12")], "v1.2.0"),
        ("", [pin("engine", "ARG ENGINE_VERSION=9.1"), pin("engine", 'tag: "v1.2.0"')], "v1.2.0"),
    ],
)
def test_what_people_write_or_a_tree_pins_names_a_merge(pins: App, start: str, uses: list[Use], name: str) -> None:
    pinned, merge = find_pin(pins, REPOSITORY, start, replace(PROFILE, uses=tuple(uses)))
    assert (pinned, merge.number) == (name, 7)


@pytest.mark.parametrize(
    ("start", "uses", "sentence"),
    [
        ("", [], "Which commit does ascend use"),
        ("", [pin("torch", "torch==1.2.0"), pin("engine", "engine>=1.2.0")], "Which commit does ascend use"),
        ("", [pin("engine", "engine==9.1")], "ascend pins 'v9.1', no tag of octo/engine"),
        ("v9", [], "'v9' is no tag of octo/engine"),
        (OTHER, [], "is no merge of octo/engine"),
    ],
)
def test_a_pin_that_is_missing_is_explained(pins: App, start: str, uses: list[Use], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        find_pin(pins, REPOSITORY, start, replace(PROFILE, uses=tuple(uses)))
