"""What it takes to judge the open pull requests of a week: calls to GitHub and processor time.

    python -m benchmarks open --upstream ../vllm --profile team.json --pulls 1000

The last merges of a clone stand for open pull requests: each head is the merge, and its base the commit before. An
emulated GitHub with the real limits serves them from a process of its own. ``python -m impact scan`` writes
a profile.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from github import Auth

from benchmarks.table import Table
from bot.features.profiles.service import ProfileEntry
from bot.features.touches.contracts import MAX_OPEN
from bot.features.touches.open_pulls import judge_open_pulls
from bot.platform.commands import AllowedRepositories
from bot.platform.github.client import GitHubClient
from bot.platform.github.open_pulls import GitHubOpenPulls
from bot.platform.github.source_files import GitHubSourceFiles
from bot.platform.store.connection import connect_server
from bot.platform.store.embedded.server import start_embedded_url
from impact.git.clone_trees import open_clone_trees
from impact.profile.models import parse_profile
from impact.repository import Repository
from impact.testing.clones import git
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.github.store import PullRecord, changed_file, pull
from tests.emulators.github.trees import ClonedTree, TreeCommit
from tests.helpers.apps import make_app
from tests.helpers.builders import DAY

_REPOSITORY = Repository("octo", "engine")
# for 1,000 heads: a comparison and two reads of files each, and a call for each hundred of the list
_CALLS, _SECONDS, _AGAIN_SECONDS = 3_010, 600.0, 30.0
_STATUSES = {"A": "added", "D": "removed", "R": "renamed", "C": "copied"}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--upstream", type=Path, required=True, help="a clone of what is built on")
    parser.add_argument("--profile", type=Path, required=True, help="what python -m impact scan writes")
    parser.add_argument("--pulls", type=int, default=1_000, help="pull requests that are open (default: 1,000)")


def measure_open_pulls(table: Table, options: argparse.Namespace) -> None:
    """Judge them as often as it takes to read all, as a week does ``MAX_OPEN``, and then again."""
    calls: Counter[str] = Counter()

    @contextmanager
    def watch(kind: str) -> Iterator[None]:
        calls[kind] += 1
        yield

    profile, share = parse_profile(options.profile.read_text()), options.pulls / 1_000
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("fork").Process(target=_serve, args=(there, options), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as folder, connect_server(start_embedded_url(Path(folder))) as store:
        client = GitHubClient(here.recv(), Auth.Token("ghp_test"), seconds=120, watch=watch)
        files = GitHubSourceFiles(client)
        parts: dict[str, Any] = {"open_pulls": GitHubOpenPulls(client), "source_files": files}
        nothing = {"source_mirror": None, "source_search": None}
        app = make_app(store, SimpleNamespace(**parts, **nothing), repositories=AllowedRepositories(_REPOSITORY))
        app.profiles.put(ProfileEntry(profile.name, _REPOSITORY, profile.packages), profile)
        began = time.process_time()
        for _ in range(-(-options.pulls // MAX_OPEN)):
            report = judge_open_pulls(app, profile.name)
        name = f"{options.pulls:,} open pull requests"
        table.print_row(f"{name}: calls to GitHub", sum(calls.values()), _CALLS * share + 20, "calls")
        table.print_row(f"{name}: processor time", time.process_time() - began, _SECONDS * share, "s")
        print(f"{dict(calls)}; {report.hits.explain_gaps()}")
        print(f"{len(report.heads)} would break {profile.name}, or may")
        calls.clear()
        began = time.process_time()
        judge_open_pulls(app, profile.name)
        table.print_row(f"{name}, no new head: calls", sum(calls.values()), 10 * share + 1, "calls")
        table.print_row(f"{name}, no new head: processor time", time.process_time() - began, _AGAIN_SECONDS, "s")
    server.terminate()


def _serve(pipe: Connection, options: argparse.Namespace) -> None:
    with open_clone_trees(options.upstream) as trees:
        line = [commit.sha for commit in trees.list_line()][-options.pulls - 1 :]
    with GitHubEmulator() as github:
        for number, (base, head) in enumerate(pairwise(line), 1):
            for commit in (base, head):
                github.add_commit(str(_REPOSITORY), TreeCommit(commit, ClonedTree(options.upstream, commit)))
            github.add(str(_REPOSITORY), _make_pull(options.upstream, number, base, head))
        pipe.send(github.url)
        time.sleep(3_600)


def _make_pull(clone: Path, number: int, base: str, head: str) -> PullRecord:
    files = []
    for row in git(clone, "diff", "--name-status", "-M", base, head).splitlines():
        status, *paths = row.split("\t")
        renamed = {"previous_filename": paths[0]} if len(paths) > 1 else {}
        files.append(changed_file(paths[-1], None, status=_STATUSES.get(status[0], "modified"), **renamed))
    updated = DAY.end - timedelta(minutes=number)
    return pull(number, state="OPEN", files=files, base_sha=base, head_sha=head, updated_at=updated)
