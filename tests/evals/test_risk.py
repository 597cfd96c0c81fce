"""``python -m evals risk`` on a made-up record."""

from __future__ import annotations

import gzip
import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.domain.risk.assessment import RULES_VERSION
from evals.pack import read_outcomes, read_pulls
from tests.helpers.processes.command import Caught

pytestmark = pytest.mark.slow

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
    """Ten merges, one a day."""
    folder = tmp_path / "pack"
    folder.mkdir()
    with gzip.open(folder / "history-2025.jsonl.gz", "wt", encoding="utf-8") as lines:
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
            lines.write(json.dumps(record | {"files": [file]}) + "\n")
    (folder / "labels-2025.csv").write_text(LABELS)
    return folder


def evals(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return Caught("risk", *arguments, settings={}, folder=folder, module="evals").await_end()


def test_a_record_is_read_with_what_happened_and_since_when(pack: Path) -> None:
    pulls, outcomes = read_pulls(pack), read_outcomes(pack)
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
    lines = done.stdout.splitlines()
    assert lines[0] == f"vllm-project/vllm, branch main, merged 2025-03-01 to 2025-03-31 (UTC), {RULES_VERSION}"
    # the second was repaired on the day after, but only at noon
    for line, start, count in zip(lines[2:5], "RHY", (1, 2, 3), strict=True):
        assert line.startswith(start)
        assert line.endswith(f": {count}, {count} of them still open at 09:00 on the next day")
    assert lines[-1].startswith("Verdict: too few to tell.")
    assert (tmp_path / "out.csv").read_text().count("\n") == 11
    evaluation = json.loads(evals(tmp_path, f"--pack={pack}", *window, "--json").stdout)
    assert [(each["label"], each["all"]) for each in evaluation["positives"]] == [("R", 1), ("H", 2), ("Y", 3)]


def test_without_a_record_it_says_so(tmp_path: Path) -> None:
    done = evals(tmp_path, "--pack=nothing")
    assert done.returncode == 1
    assert "history-2025.jsonl.gz is not there: give --pack the folder of the record." in done.stderr
