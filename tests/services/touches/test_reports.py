"""Reports on real changes of code, through GitHub's emulator, the extraction, the judgement and a real store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from github import Auth
from redis import Redis

from bot.adapters.redis import RedisCache
from bot.domain.errors import RateLimited, TimeLimitExceeded, UsageError
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.features.profiles.service import ProfileEntry
from bot.platform import deadlines
from bot.platform.github.client import GitHubClient
from bot.platform.github.source_files import GitHubSourceFiles
from bot.services.contract.reader import ContractReader
from bot.services.digest.touched_day import TouchedDayReader
from bot.services.operations.progress import follow_progress
from bot.services.touches.reports import TouchReports
from impact.contract.extraction import EXTRACTION_VERSION, extract_merge
from impact.profile.models import Profile, Use, UseKind
from impact.python.models import CallShape
from impact.touches.models import TouchLevel
from tests.adapters.worlds import REPO, ScriptedGitHub
from tests.emulators.github.store import sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON, REPOSITORY, changed_file, pull

BEFORE = {
    "engine/core.py": b"def run(a):\n    return a\n\n\ndef stop():\n    return 1\n",
    "engine/__init__.py": b"",
}
# the one that the profile calls is gone
AFTER = {"engine/core.py": b"def run(a):\n    return a\n", "engine/__init__.py": b""}
CALL = Use(
    UseKind.CALL, "engine.core.stop", "plugin/worker.py", 7, "stop()", ("engine.core.stop",), call=CallShape()
)
PROFILE = Profile("ascend", ("engine",), "octo/plugin", "c0ffee", NOON, (CALL,), {}, 1)
ENTRY = ProfileEntry("ascend", REPOSITORY, ("engine",), commit="c0ffee", uses=1, files=1)


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as emulator:
        yield emulator


def merge(github: ScriptedGitHub, number: int, after: dict[str, bytes]) -> PullRequest:
    before, changed = ({path: Entry(data) for path, data in each.items()} for each in (BEFORE, after))
    commit = sha(f"merge {number}")
    github.add_commit(REPO, TreeCommit(commit, FixedTree(changed), TreeCommit(sha("before"), FixedTree(before))))
    return pull(number, files=[changed_file("engine/core.py")], merge_commit=commit)


@pytest.fixture
def reports(github: ScriptedGitHub, store: Redis) -> TouchReports:
    def never(_: PullRequest) -> PullRequest:
        raise AssertionError

    versions = GitHubSourceFiles(GitHubClient(github.url, Auth.Token(github.token)))
    contracts = ContractReader(versions, RedisCache(store), never, extract_merge, EXTRACTION_VERSION)
    profiles = make_app(store).profiles
    return TouchReports(profiles, contracts, workers=2)


def test_a_removed_function_breaks_its_caller(github: ScriptedGitHub, store: Redis, reports: TouchReports) -> None:
    make_app(store).profiles.put(ENTRY, PROFILE)
    pulls = [merge(github, 1, BEFORE | {"engine/core.py": b"# quiet\n" + BEFORE["engine/core.py"]})]
    report = reports.judge_merges("Ascend", [*pulls, merge(github, 2, AFTER)]).report
    assert (report.profile, report.merges, report.uses, report.unread) == ("ascend", 2, 1, ())
    [hit] = report.touching
    assert (hit.number, hit.level) == (2, TouchLevel.BREAKS)
    assert hit.touches[0].use == CALL
    assert len(github.calls) == 2


def test_a_profile_that_moved_judges_again_without_a_call(
    github: ScriptedGitHub, store: Redis, reports: TouchReports
) -> None:
    profiles, pulls = make_app(store).profiles, [merge(github, 2, AFTER)]
    profiles.put(ENTRY, replace(PROFILE, uses=()))
    assert reports.judge_merges("ascend", pulls).report.touching == ()
    profiles.put(ENTRY, PROFILE)
    assert [hit.number for hit in reports.judge_merges("", pulls).report.touching] == [2]
    assert len(github.calls) == 1


def test_a_merge_that_cannot_be_read_takes_one_call_for_a_digest(
    github: ScriptedGitHub, store: Redis, reports: TouchReports
) -> None:
    make_app(store).profiles.put(ENTRY, PROFILE)
    pulls = [merge(github, 2, AFTER), pull(3, files=[changed_file("engine/core.py")], merge_commit=sha("gone"))]
    reader = TouchedDayReader(reports, lambda profile, repository, merges: None)
    day = reader.read_day("ascend", pulls)
    assert [contract.number for contract in day.contracts] == [2, 3]
    assert [file.path for file in day.contracts[1].unread] == ["engine/core.py"]
    assert len(github.calls) == len(pulls)


@pytest.mark.slow
def test_a_long_way_is_read_in_steps_and_goes_on_where_it_ended(
    github: ScriptedGitHub, store: Redis, reports: TouchReports
) -> None:
    make_app(store).profiles.put(ENTRY, PROFILE)
    pulls = [merge(github, number, AFTER) for number in range(1, 121)]
    github.set_limit("graphql", 70)
    with follow_progress() as progress, pytest.raises(RateLimited):
        reports.read_steps(pulls)
    assert (progress.done, progress.total) == (50, 120)
    github.set_limit("graphql", 5_000)
    read = len(github.calls)
    assert [contract.number for contract in reports.read_steps(pulls)] == list(range(1, 121))
    assert len(github.calls) - read <= 120 - 50


def test_a_way_that_takes_too_long_says_how_far_it_is(
    github: ScriptedGitHub, store: Redis, reports: TouchReports
) -> None:
    make_app(store).profiles.put(ENTRY, PROFILE)
    pulls = [merge(github, number, AFTER) for number in (1, 2)]
    with deadlines.bound_work(0.0), pytest.raises(TimeLimitExceeded, match="read 0 of 2 merges, and keep them"):
        reports.read_steps(pulls)


def test_merges_of_another_repository_are_left_out(
    github: ScriptedGitHub, store: Redis, reports: TouchReports
) -> None:
    make_app(store).profiles.put(replace(ENTRY, upstream=Repository("octo", "other")), PROFILE)
    assert reports.judge_merges("ascend", [merge(github, 2, AFTER)]).report.merges == 0
    assert github.calls == []


@pytest.mark.parametrize(
    ("entries", "name", "sentence"),
    [
        ([], "ascend", "no profile yet"),
        ([], "", "no profile yet"),
        ([ENTRY], "gaudi", "no profile 'gaudi': use ascend"),
        ([ENTRY], "a b", "no profile 'a b': use ascend"),
        ([ENTRY, replace(ENTRY, name="gaudi")], "", "one of ascend, gaudi"),
        ([ENTRY], "ascend", "was not scanned yet"),
        ([replace(ENTRY, problem="GitHub is away.")], "ascend", "could not be scanned: GitHub is away"),
    ],
)
def test_what_is_missing_is_said(
    store: Redis, reports: TouchReports, entries: list[ProfileEntry], name: str, sentence: str
) -> None:
    for entry in entries:
        make_app(store).profiles.put(entry)
    with pytest.raises(UsageError, match=sentence):
        reports.judge_merges(name, [])
