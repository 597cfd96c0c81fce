"""The stage on which both tools run: pull requests on a GitHub, a scripted model, and an empty store for ours."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.day import GITHUB_LATENCY, MODEL_LATENCY, add_large_day
from benchmarks.peers.answers import answer_both
from benchmarks.peers.files import make_commits
from benchmarks.peers.measurements import Meter, TimedGitHub
from bot.platform.store.connection import connect_server
from bot.platform.store.embedded.server import start_embedded_url
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.github.store import PullRecord, read_replay, sha

MADE_UP = "octo/engine"


@dataclass(frozen=True)
class Material:
    """The pull requests that both tools summarize, and where their other lines come from."""

    name: str
    repository: str
    date: str
    pulls: tuple[PullRecord, ...]
    clone: Path | None = None


@dataclass(frozen=True)
class Stage:
    """The emulators with a day's pull requests, and the address of a store."""

    meter: Meter
    store: str
    material: Material


def load_material(day: Path | None, count: int, clone: Path | None) -> Material:
    """Return the first merges of a recorded day, or made-up ones if there is no record."""
    if day is None:
        with TimedGitHub() as github:
            add_large_day(github)
            place = github.store.find(MADE_UP)
        pulls = tuple(place.records()) if place else ()
        return Material("made-up pull requests", MADE_UP, "2026-02-28", pulls[:count])
    repository, records = read_replay(day)
    date = json.loads((day / "pulls.json").read_text(encoding="utf-8"))["date"]
    return Material(f"{repository}, {date}", repository, date, tuple(records[:count]), clone)


@contextmanager
def open_stage(material: Material) -> Iterator[Stage]:
    """Yield emulators that have the pull requests and their files, and an empty embedded store."""
    with (
        tempfile.TemporaryDirectory(prefix="bench") as folder,
        TimedGitHub() as github,
        ClaudeEmulator() as claude,
        connect_server(start_embedded_url(Path(folder))) as keeper,
    ):
        keeper.ping()
        claude.respond = answer_both
        github.latency, claude.latency = GITHUB_LATENCY, MODEL_LATENCY
        for each in material.pulls:
            # merges of a day may share a base; with one of its own each has the files that it changes
            record = replace(each, base_sha=sha(f"base {each.number}"))
            github.add(material.repository, record)
            for commit in make_commits(record, material.clone):
                github.add_commit(material.repository, commit)
        yield Stage(Meter(github, claude), start_embedded_url(Path(folder)), material)
