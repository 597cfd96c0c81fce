"""``prdigest risks evaluate`` as a person runs it, on a repository of its own."""

from __future__ import annotations

import csv
import json
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from bot.domain.risk.assessment import RULES_VERSION
from tests.cli.conftest import Call
from tests.helpers.checks import is_one_sentence
from tests.helpers.clones import BEGIN, building, git, lines, needs_git
from tests.helpers.processes.command import prdigest

pytestmark = [pytest.mark.slow, needs_git]

EVALUATE = ("risks", "evaluate")
WINDOW = ("--since=2025-04-16", "--until=2025-05-30")
COUNT = 180


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A merge each day, large or small; the large ones are taken back after three days, one of them by hand."""
    folder = tmp_path_factory.mktemp("risks") / "clone"
    with building(folder) as builder:
        builder.commit("Begin", {"csrc/attn.cu": lines(400), "README.md": lines(1)})
        late: list[tuple[int, str]] = []
        for number in range(1, COUNT + 1):
            at = BEGIN + timedelta(days=number)
            if number % 4 == 0:
                files = {"csrc/attn.cu": lines(400, f"v{number} of"), f"engine/part{number}.py": lines(150)}
            else:
                files = {"README.md": lines(number % 7 + 1)}
            mark = builder.commit(f"Part {number} (#{number})\n\nWhy.", files, at=at)
            if number % 4 == 0 and number % 40:
                late.append((number, f'Revert "Part {number}" (#{1000 + number})\n\nReverts octo/engine#{number}'))
            elif number % 40 == 0:
                sha = builder.sha(mark)
                late.append((number, f'Revert "Part {number} (#{number})"\n\nThis reverts commit {sha}.'))
            for gone, message in [each for each in late if each[0] == number - 3]:
                back = {f"engine/part{gone}.py": None}
                builder.commit(message, back, at=at + timedelta(hours=1))
    git(folder, "remote", "add", "origin", "https://github.com/octo/engine.git")
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return prdigest(*EVALUATE, *arguments, settings={}, folder=folder)


class TestEvaluate:
    def test_it_prints_a_table_and_writes_scores(self, clone: Path, tmp_path: Path) -> None:
        before = _files(clone)
        done = run(tmp_path, f"--clone={clone}", *WINDOW, "--scores=out.csv")
        assert (done.returncode, done.stderr) == (0, "")
        output_lines = done.stdout.splitlines()
        assert (
            output_lines[0] == f"octo/engine, branch main, merged 2025-04-16 to 2025-05-30 (UTC), {RULES_VERSION}"
        )
        assert output_lines[1].startswith("55 pull requests, history from 2024-04-16; ")
        assert output_lines[2] == "R  reverted: 12, 12 of them still open at 09:00 on the next day"
        assert output_lines[-1].startswith("Verdict: too few to tell. Only 12 open pull requests")
        rows = list(csv.reader((tmp_path / "out.csv").read_text().splitlines()))
        assert rows[0] == ["pr", "score"]
        scores = {int(number): float(score) for number, score in rows[1:]}
        assert (len(rows) - 1, len(scores)) == (55, 55)
        assert min(scores[n] for n in range(100, 145, 4)) > max(scores[n] for n in range(101, 145) if n % 4)
        assert _files(clone) == before

    def test_more_days_are_a_signal(self, clone: Path, tmp_path: Path) -> None:
        done = run(tmp_path, f"--clone={clone}", "--since=2025-01-07", "--until=2025-07-05", "--json")
        evaluation = json.loads(done.stdout)
        assert evaluation["verdict"]["signal"] == "signal"
        assert evaluation["positives"][0] == {"label": "R", "all": 44, "open": 44}
        assert any("0 days of history" in note for note in evaluation["notes"])

    def test_days_are_those_of_the_time_zone(self, clone: Path, call_command: Call) -> None:
        command = (*EVALUATE, f"--clone={clone}", *WINDOW)
        there = call_command(*command, "--timezone=Asia/Tokyo", settings={})
        assert "days in Asia/Tokyo" in there.stdout
        done = call_command(*command, settings={"PRDIGEST_TIMEZONE": "Asia/Tokyo"})
        assert done.stdout == there.stdout

    def test_history_begins_where_it_is_told_to(self, clone: Path, call_command: Call) -> None:
        done = call_command(*EVALUATE, f"--clone={clone}", *WINDOW, "--history-from=2025-04-10", settings={})
        assert "history from 2025-04-10" in done.stdout
        assert "Note: There are 5 days of history before the window" in done.stdout

    def test_another_repository_may_be_named(self, clone: Path, call_command: Call) -> None:
        done = call_command(
            *EVALUATE, f"--clone={clone}", *WINDOW, "--repo=ada/fork", "--branch=main", settings={}
        )
        assert done.stdout.startswith("ada/fork, branch main")


def _files(folder: Path) -> list[tuple[str, int, int]]:
    entries = [(path, path.stat()) for path in folder.rglob("*") if path.is_file()]
    return sorted((str(path), each.st_size, each.st_mtime_ns) for path, each in entries)


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            pytest.param(["--clone=nothing", *WINDOW], 2, "'nothing' is not a readable folder", id="no-folder"),
            pytest.param(["--clone=.", *WINDOW], 2, "is not a git clone", id="no-clone"),
            pytest.param(
                ["--clone={clone}", "--since=2025-05-02", "--until=2025-05-01"],
                2,
                "--until 2025-05-01 is before --since 2025-05-02",
                id="wrong-way-round",
            ),
            pytest.param(
                ["--clone={clone}", "--since=2025-5-2", "--until=2025-06-01"], 2, "is not a date", id="no-date"
            ),
            pytest.param(
                ["--clone={clone}", "--since=2021-01-01", "--until=2021-02-01"],
                2,
                "No pull request was merged into octo/engine from 2021-01-01 to 2021-02-01",
                id="empty",
            ),
            pytest.param(
                ["--clone=nothing", *WINDOW, "--scores=no/such/out.csv"], 2, "can't be written", id="unwritable"
            ),
            pytest.param(
                ["--clone={clone}", *WINDOW, "--history-from=2025-05-01"],
                2,
                "--history-from 2025-05-01 is after",
                id="history",
            ),
            pytest.param(
                ["--clone={clone}", *WINDOW, "--branch=nosuch"], 2, "has no branch 'nosuch'", id="branch"
            ),
            pytest.param(["--clone={clone}", *WINDOW, "--repo=engine"], 2, "is not a repository", id="repository"),
            pytest.param(["--clone={clone}", *WINDOW, "--timezone=Mars"], 2, "is not a time zone", id="zone"),
        ],
    )
    def test_what_can_not_be_done_is_one_sentence(
        self, clone: Path, tmp_path: Path, call_command: Call, arguments: list[str], code: int, message: str
    ) -> None:
        done = call_command(*EVALUATE, *(each.format(clone=clone) for each in arguments), settings={})
        assert (done.returncode, done.stdout) == (code, "")
        assert message in done.stderr
        assert is_one_sentence(done.stderr.strip())
        assert list(tmp_path.iterdir()) == []


class TestPaths:
    def test_what_is_product_in_a_repository_may_be_said(
        self, clone: Path, tmp_path: Path, call_command: Call
    ) -> None:
        (tmp_path / "paths.toml").write_text('["octo/engine"]\nproduct = ["README.md"]\n')
        settings = {"PRDIGEST_PATHS": str(tmp_path / "paths.toml")}
        command = (*EVALUATE, f"--clone={clone}", *WINDOW)
        usual, own = (call_command(*command, settings=each) for each in ({}, settings))
        assert "without product and build files: " in usual.stdout
        assert "without product and build files: 0.0%" in own.stdout
        assert "without product and build files: 0.0%" not in usual.stdout

    def test_a_file_that_can_not_be_used_is_one_sentence(
        self, clone: Path, tmp_path: Path, call_command: Call
    ) -> None:
        settings = {"PRDIGEST_PATHS": str(tmp_path / "none.toml")}
        done = call_command(*EVALUATE, f"--clone={clone}", *WINDOW, settings=settings)
        assert (done.returncode, done.stdout) == (2, "")
        assert is_one_sentence(done.stderr.strip())


class TestScore:
    @pytest.mark.usefixtures("store")
    def test_a_store_without_digests_says_what_to_do(self, tmp_path: Path, store_url: str) -> None:
        settings = {"REDIS_URL": store_url, "PRDIGEST_REPO": "octo/engine"}
        done = prdigest("risks", "score", "2026-01-01..2026-03-31", settings=settings, folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        first, _, rest = done.stdout.partition("\n")
        assert first == "octo/engine, 1 January – 31 March 2026"  # noqa: RUF001 (a dash)
        assert "There is nothing to score" in rest

    @pytest.mark.parametrize("days", ["0d", "soon", "400d"])
    def test_days_that_can_not_be_scored_are_one_sentence(
        self, call_command: Call, store_url: str, days: str
    ) -> None:
        settings = {"REDIS_URL": store_url, "PRDIGEST_REPO": "octo/engine"}
        done = call_command("risks", "score", days, settings=settings)
        assert (done.returncode, done.stdout) == (2, "")
        assert is_one_sentence(done.stderr.strip())
