"""What is kept of another downstream, read from clones: each commit is seen once, whenever it comes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from redis import Redis

from bot.app import App
from bot.errors import MirrorUnavailable
from bot.features.profiles import others
from bot.features.profiles.others import list_histories, refresh_others
from bot.settings.values import parse_downstreams
from impact.clones.followers import FollowedMerge
from impact.testing.clones import building, needs_git
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON, REPOSITORY

pytestmark = needs_git

MERGES = {number: FollowedMerge(NOON - timedelta(days=40)) for number in (7, 8, 9)}
LATER = NOON + timedelta(days=1)


@dataclass
class Team:
    """A downstream, as the bot reads it at some times. Without commits it is away."""

    app: App
    root: Path
    commits: list[tuple[int, datetime]] = field(default_factory=list)

    def update(self, *_: object) -> SimpleNamespace:
        if not self.commits:
            raise MirrorUnavailable("It is away.")
        folder = self.root / str(len([*self.root.iterdir()]))
        with building(folder) as builder:
            builder.commit("Begin", {"a": b"1"}, at=NOON - timedelta(days=60))
            for number, at in self.commits:
                builder.commit(f"Adapt to {REPOSITORY}#{number}", {f"a{number}": b"1"}, at=at)
        return SimpleNamespace(path=folder)

    def read(self, at: datetime) -> list[tuple[int, datetime]]:
        self.app.now = lambda: at
        refresh_others(self.app, REPOSITORY, MERGES)
        (history,) = list_histories(self.app, REPOSITORY)
        assert bool(history.problem) == (not self.commits)
        return [(each.followed.number, each.seen_at) for each in history.commits]


@pytest.fixture
def team(store: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Team:
    app = make_app(store, SimpleNamespace(source_mirror=object(), background=None, releases=None))
    downstreams = parse_downstreams(f"{REPOSITORY}=kin/alpha")
    app.settings = app.settings.model_copy(update={"prdigest_downstreams": downstreams})
    made = Team(app, tmp_path)
    monkeypatch.setattr(others, "update_other", made.update)
    return made


def test_what_was_there_before_the_first_look_is_no_news_and_what_comes_late_is(team: Team) -> None:
    early, ahead = NOON - timedelta(days=9), NOON + timedelta(days=30)
    team.commits = [(7, early), (8, ahead)]
    # a clock that goes wrong makes no news of a day to come
    assert team.read(NOON) == [(7, early), (8, NOON)]
    # written earlier, and merged now
    team.commits = [(7, early), (8, ahead), (9, NOON - timedelta(days=5))]
    assert team.read(LATER) == [(7, early), (9, LATER), (8, NOON)]
    assert team.read(LATER + timedelta(days=1)) == [(7, early), (9, LATER), (8, NOON)]


def test_what_can_not_be_fetched_stays_as_it_was(team: Team) -> None:
    assert team.read(NOON - timedelta(days=1)) == []
    team.commits = [(7, NOON - timedelta(days=9))]
    seen = team.read(NOON)
    assert seen == [(7, NOON - timedelta(days=9))]
    known, team.commits = team.commits, []
    assert team.read(LATER) == seen
    team.commits = [*known, (8, NOON)]
    assert team.read(LATER + timedelta(days=20)) == [*seen, (8, LATER + timedelta(days=20))]


def test_what_has_no_room_is_not_seen_again(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(others, "_MAX_COMMITS", 2)
    team.commits = [(number, NOON - timedelta(days=9 - number)) for number in (7, 8, 9)]
    seen = team.read(NOON)
    assert [number for number, _ in seen] == [8, 9]
    assert team.read(LATER) == seen
