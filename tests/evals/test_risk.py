"""``python -m evals risk`` on a made-up record and a made-up clone, and its table."""

import csv
import datetime as dt
import gzip
import json
import math
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.features.merges.risk import RULES_VERSION
from bot.platform.pulls.paths import PathClass
from evals.evaluation import BandShare, Evaluation, NonProductShare, PathShare, PositiveCount, RuleEffect, Verdict
from evals.merges import MergeSource, read_labels, read_outcomes, read_pulls
from evals.ranking import RankingRow, TopRow
from evals.risk import format_json, format_table
from impact.evaluation.ranking_metrics import Estimate
from impact.testing.clones import BEGIN as FIRST
from impact.testing.clones import building, git, lines, needs_git
from tests.helpers.checks import is_one_sentence
from tests.helpers.processes.command import Caught

pytestmark = pytest.mark.slow

NO_SETTINGS: Mapping[str, str] = {}
BEGIN = datetime(2025, 3, 1, 12, tzinfo=UTC)
LABELS = """\
pr,merged_at,reverted_by,reverted_at,fixed_by,fixed_at,szz_fix_by
1,,,,,,
2,,9,2025-03-05T12:00:00Z,8;7,2025-03-04T12:00:00Z,8
3,,,,9,2025-03-09T12:00:00Z,
4,,,,,,9
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "pack"
    folder.mkdir()
    with gzip.open(folder / "history-2025.jsonl.gz", "wt", encoding="utf-8") as output:
        for number in range(1, 11):
            file = {"path": f"engine/part{number}.py", "status": "added", "additions": number, "deletions": 0}
            if number == 5:
                file |= {"status": "renamed", "previous_path": "engine/part1.py"}
            at = (BEGIN + timedelta(days=number)).isoformat()
            record = {
                "number": number,
                "title": f"Part {number}",
                "author": "Ada",
                "merged_at": at,
                "sha": "a" * 40,
            }
            output.write(json.dumps(record | {"files": [file]}) + "\n")
    (folder / "labels-2025.csv").write_text(LABELS)
    return folder


def evals(
    folder: Path, *arguments: str, settings: Mapping[str, str] = NO_SETTINGS
) -> subprocess.CompletedProcess[str]:
    return Caught("risk", *arguments, settings=settings, folder=folder, module="evals").await_end()


def test_a_record_is_read_with_what_happened_and_since_when(pack: Path) -> None:
    pulls, outcomes = read_pulls(pack), read_outcomes(read_labels(pack))
    assert [pull.number for pull in pulls] == list(range(1, 11))
    assert [file.previous_path for file in pulls[4].files or ()] == ["engine/part1.py"]
    assert {number: sorted(outcome.labels) for number, outcome in outcomes.items()} == {
        2: ["H", "R", "Y"],
        3: ["H", "Y"],
        4: ["Y"],
    }
    assert [outcome.known_since for outcome in outcomes.values()] == [
        datetime(2025, 3, 4, 12, tzinfo=UTC),
        datetime(2025, 3, 9, 12, tzinfo=UTC),
        None,
    ]


def test_it_measures_by_all_labels_and_writes_scores(pack: Path, tmp_path: Path) -> None:
    window = ("--since=2025-03-01", "--until=2025-03-31", "--timezone=UTC")
    done = evals(tmp_path, f"--pack={pack}", *window, "--scores=out.csv")
    assert (done.returncode, done.stderr) == (0, "")
    shown = done.stdout.splitlines()
    assert shown[0] == f"vllm-project/vllm, branch main, merged 2025-03-01 to 2025-03-31 (UTC), {RULES_VERSION}"
    # the second was repaired on the day after, but only at noon
    for line, start, count in zip(shown[2:5], "RHY", (1, 2, 3), strict=True):
        assert line.startswith(start)
        assert line.endswith(f": {count}, {count} of them still open at 09:00 on the next day")
    assert shown[-1].startswith("Verdict: too few to tell.")
    assert (tmp_path / "out.csv").read_text().count("\n") == 11
    evaluation = json.loads(evals(tmp_path, f"--pack={pack}", *window, "--json").stdout)
    assert [(each["label"], each["all"]) for each in evaluation["positives"]] == [("R", 1), ("H", 2), ("Y", 3)]


CLONE_WINDOW = ("--since=2025-04-16", "--until=2025-05-30")
COUNT = 180


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A merge each day, large or small; the large ones are taken back after three days, one of them by hand."""
    folder = tmp_path_factory.mktemp("risks") / "clone"
    with building(folder) as builder:
        builder.commit("Begin", {"csrc/attn.cu": lines(400), "README.md": lines(1)})
        late: list[tuple[int, str]] = []
        for number in range(1, COUNT + 1):
            at = FIRST + timedelta(days=number)
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


@needs_git
class TestOnAClone:
    def test_it_prints_a_table_and_writes_scores(self, clone: Path, tmp_path: Path) -> None:
        before = _list_files(clone)
        done = evals(tmp_path, f"--clone={clone}", *CLONE_WINDOW, "--scores=out.csv")
        assert (done.returncode, done.stderr) == (0, "")
        shown = done.stdout.splitlines()
        assert shown[0] == f"octo/engine, branch main, merged 2025-04-16 to 2025-05-30 (UTC), {RULES_VERSION}"
        assert shown[1].startswith("55 pull requests, history from 2024-04-16; ")
        assert shown[2] == "R  reverted: 12, 12 of them still open at 09:00 on the next day"
        assert shown[-1].startswith("Verdict: too few to tell. Only 12 open pull requests")
        rows = list(csv.reader((tmp_path / "out.csv").read_text().splitlines()))
        scores = {int(number): float(score) for number, score in rows[1:]}
        assert (rows[0], len(rows) - 1, len(scores)) == (["pr", "score"], 55, 55)
        assert min(scores[n] for n in range(100, 145, 4)) > max(scores[n] for n in range(101, 145) if n % 4)
        assert _list_files(clone) == before

    def test_more_days_are_a_signal(self, clone: Path, tmp_path: Path) -> None:
        done = evals(tmp_path, f"--clone={clone}", "--since=2025-01-07", "--until=2025-07-05", "--json")
        evaluation = json.loads(done.stdout)
        assert evaluation["verdict"]["signal"] == "signal"
        assert evaluation["positives"][0] == {"label": "R", "all": 44, "open": 44}
        assert any("0 days of history" in note for note in evaluation["notes"])

    def test_options_and_settings_say_what_is_read(self, clone: Path, tmp_path: Path) -> None:
        (tmp_path / "paths.toml").write_text('["ada/fork"]\nproduct = ["README.md"]\n')
        settings = {"PRDIGEST_TIMEZONE": "Asia/Tokyo", "PRDIGEST_PATHS": str(tmp_path / "paths.toml")}
        options = ("--repo=ada/fork", "--branch=main", "--history-from=2025-04-10")
        done = evals(tmp_path, f"--clone={clone}", *CLONE_WINDOW, *options, settings=settings)
        shown = done.stdout.splitlines()
        assert shown[0].startswith("ada/fork, branch main")
        assert shown[1].endswith("history from 2025-04-10; without product and build files: 0.0%")
        assert "days in Asia/Tokyo" in done.stdout
        assert "Note: There are 5 days of history before the window" in done.stdout

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            pytest.param(["--clone=nothing", *CLONE_WINDOW], "'nothing' is not a readable folder", id="no-folder"),
            pytest.param(
                ["--clone={clone}", "--since=2025-05-02", "--until=2025-05-01"],
                "--until 2025-05-01 is before --since 2025-05-02",
                id="wrong-way-round",
            ),
            pytest.param(
                ["--clone={clone}", "--since=2021-01-01", "--until=2021-02-01"],
                "No pull request was merged into octo/engine from 2021-01-01 to 2021-02-01",
                id="empty",
            ),
            pytest.param(
                ["--clone=nothing", *CLONE_WINDOW, "--scores=no/such/out.csv"], "can't be written", id="unwritable"
            ),
            pytest.param(
                ["--clone={clone}", *CLONE_WINDOW, "--history-from=2025-05-01"],
                "--history-from 2025-05-01 is after",
                id="history",
            ),
        ],
    )
    def test_what_can_not_be_done_is_one_sentence(
        self, clone: Path, tmp_path: Path, arguments: list[str], message: str
    ) -> None:
        done = evals(tmp_path, *(each.format(clone=clone) for each in arguments))
        assert (done.returncode, done.stdout) == (1, "")
        assert message in done.stderr
        assert is_one_sentence(done.stderr.strip().removeprefix("Error: "))
        assert list(tmp_path.iterdir()) == []


def _list_files(folder: Path) -> list[tuple[str, int, int]]:
    entries = [(path, path.stat()) for path in folder.rglob("*") if path.is_file()]
    return sorted((str(path), each.st_size, each.st_mtime_ns) for path, each in entries)


UNKNOWN = Estimate(math.nan, math.nan, math.nan)


def evaluation(branch: str = "main") -> Evaluation:
    rules = RankingRow(
        "rules",
        "H",
        0.656,
        Estimate(0.691, 0.603, 0.77),
        Estimate(0.03, 0.01, 0.05),
        Estimate(0.025, 0, 0.04),
        UNKNOWN,
    )
    even = Estimate(0.5, 0.5, 0.5)
    return Evaluation(
        source=MergeSource("octo/engine", branch, dt.date(2025, 3, 1)),
        window={"since": "2025-10-01", "until": "2025-12-31", "timezone": "Asia/Tokyo"},
        rules="rules.v2",
        pulls=2000,
        open=1990,
        days=92,
        positives=(PositiveCount("H", 50, 40),),
        rows=(rules, RankingRow("random", "H", 0.5, even, even, even, even)),
        gains={"H": Estimate(0.073, 0.002, 0.144)},
        listed=(TopRow("H", 10, 237, Estimate(0.025, 0.008, 0.046), Estimate(0.188, 0.069, 0.308)),),
        bands=(BandShare("lowest", 0.201, {"H": 0.01}), BandShare("high", 0.0, {"H": math.nan})),
        effects=(RuleEffect("build", 194, {"H": 0.052}, {"H": Estimate(-0.002, -0.014, 0.022)}),),
        without_product=NonProductShare(0.193, (PathShare("examples/", PathClass.DOCS, 7),)),
        notes=("The clone is shallow.",),
        verdict=Verdict("signal", "It is better than chance."),
        scores=((12, 5.0003642), (7, -8.0)),
    )


TABLE = """\
octo/engine, branch main, merged 2025-10-01 to 2025-12-31 (UTC), rules.v2
2,000 pull requests, history from 2025-03-01; without product and build files: 19.3%
H  reverted, or named as the cause by a repair: 50, 40 of them still open at 09:00 on the next day
Measured on the 1,990 that were open then, 92 days in Asia/Tokyo; 'AUC all' on all; [95% intervals over days]

   ranking  AUC all  AUC                   average precision     precision, top 3 a day  recall, top 3 a day
H  rules    0.656    0.691 [0.603, 0.770]  0.030 [0.010, 0.050]  0.025 [0.000, 0.040]    -
H  random   0.500    0.500                 0.500                 0.500                   0.500
AUC of the rules less that of lines added: H +0.073 [+0.002, +0.144]

Top 3 of a day, only from 10 points on: 237 places
   precision             recall
H  0.025 [0.008, 0.046]  0.188 [0.069, 0.308]

band    share   H
high    0.0%    -
lowest  20.1%   1.0%
all     100.0%  2.5%

rule   fired on  H     AUC H it adds
build  194       5.2%  -0.002 [-0.014, +0.022]
all    2,000     2.5%

Note: The clone is shallow.
Verdict: signal. It is better than chance."""


def test_the_table_is_read_from_top_to_verdict() -> None:
    assert format_table(evaluation()) == TABLE


def test_any_terminal_can_show_it() -> None:
    table = format_table(evaluation("ünï\x1b[31m\n\u202ebranch"))
    assert "branch ?n?[31m branch, merged" in table
    assert table.isascii()
    assert table.replace("\n", "").isprintable()


def test_json_holds_the_same_and_is_json() -> None:
    document = json.loads(format_json(evaluation()), parse_constant=refuse)
    assert document["source"] == {"repository": "octo/engine", "branch": "main", "history_from": "2025-03-01"}
    assert document["window"] == {"since": "2025-10-01", "until": "2025-12-31", "timezone": "Asia/Tokyo"}
    assert document["rows"][0]["auc"] == {"value": 0.691, "low": 0.603, "high": 0.77}
    assert document["rows"][0]["recall"] == {"value": None, "low": None, "high": None}
    assert document["bands"][1] == {"band": "high", "share": 0.0, "rates": {"H": None}}
    assert document["verdict"] == {"signal": "signal", "sentence": "It is better than chance."}
    assert document["without_product"]["places"] == [{"pattern": "examples/", "kind": "docs", "pulls": 7}]
    assert (document["pulls"], document["scores"], document["notes"]) == (2000, 2, ["The clone is shallow."])


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")
