"""Whole days are read and judged: figures are those that readers and judges deserve."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from bot.features.merges.review import BugReview, Certainty, FindingStatus
from evals.reading.days import (
    DayFigures,
    KeyedMerge,
    LaterMerge,
    ReadMerge,
    Verdict,
    evaluate_days,
    format_days,
)
from evals.reading.figures import Reading
from impact.testing.clones import BEGIN, building, git, needs_git
from tests.emulators.claude.server import review_answer
from tests.evals.paired_clone import make_quote, report_bug
from tests.evals.test_reading import run_evals
from tests.helpers.builders import finding
from tests.helpers.tables import check_rows

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
FOUND = Reading(BugReview((finding(),)))
NOTHING = Reading(BugReview())


def merge(
    number: int,
    points: float,
    reading: Reading | None = NOTHING,
    *,
    later: tuple[int, ...] = (),
    verdict: Verdict | None = None,
) -> ReadMerge:
    events = tuple(LaterMerge(number=by, at=NOON) for by in later)
    key = KeyedMerge(prompt=number if reading else 0, number=number, points=points, later=events)
    return ReadMerge(key, reading, verdict)


RIGHT = merge(1, 5, FOUND, later=(11,), verdict=Verdict(findings=("true",), named={11: 1}))
WRONG = merge(2, 9, FOUND, verdict=Verdict(findings=("false",)))
MISSED = merge(3, 20, later=(12, 13), verdict=Verdict(findings=(), named={12: 0}))
UNREAD = merge(4, 7, None, later=(14,))
SMALL = merge(5, 1, FOUND, verdict=Verdict(findings=("negligible",)))


@check_rows(
    {
        "all is right": ([RIGHT], (1, 1), (1, 1), (0, 1), (1, 1), True),
        "a merge that is not read counts as missed": ([RIGHT, UNREAD], (1, 2), (1, 1), (0, 1), (1, 1), False),
        "two repairs of one merge": ([RIGHT, MISSED], (1, 3), (1, 1), (0, 1), (1, 1), False),
        "false and negligible": ([RIGHT, WRONG, SMALL], (1, 1), (1, 3), (1, 3), (1, 3), False),
        "nothing found": ([merge(6, 2)], (0, 0), (0, 0), (0, 0), (0, 0), False),
        "no verdict": ([replace(RIGHT, verdict=None)], (0, 1), (0, 0), (0, 0), (1, 1), False),
        "no report": ([RIGHT, merge(7, 1, Reading(problem="no answer"))], (1, 1), (1, 1), (0, 1), (1, 1), False),
    }
)
def test_counts_are_those_of_the_verdicts(
    merges: list[ReadMerge],
    named: tuple[int, int],
    true: tuple[int, int],
    negligible: tuple[int, int],
    lead: tuple[int, int],
    is_passed: bool,
) -> None:
    figures = evaluate_days({"2025-06-01": merges})
    assert (figures.named, figures.true, figures.negligible, figures.lead) == (named, true, negligible, lead)
    assert figures.is_passed is is_passed


def test_the_lead_has_three_findings_of_each_day_beside_the_rules() -> None:
    quiet = [merge(number, number) for number in range(10, 20)]
    # the lead has no line for it
    unsure = finding(status=FindingStatus.POSSIBLE, certainty=Certainty.MEDIUM)
    doubted = merge(7, 30, Reading(BugReview((unsure,))))
    figures = evaluate_days({"2025-06-01": [RIGHT, WRONG, *quiet], "2025-06-02": [MISSED, doubted, *quiet]})
    assert (figures.lead, figures.rules) == ((1, 2), (1, 6))


def test_the_table_has_intervals_and_names_what_is_missing_first() -> None:
    figures = DayFigures(43, 30, (7, 10), (9, 12), (1, 12), (4, 9), (2, 9), 3, ("#7 is not judged",))
    assert format_days(figures, ["2025-06-01", "2025-06-02"]).split("\n") == [
        "2025-06-01, 2025-06-02: 30 of 43 merges read, 3 recognised",
        "Problem: #7 is not judged",
        "Repairs and reverts that a finding names: 7 of 10, 70 % [40 %, 89 %]",
        "True findings: 9 of 12, 75 % [47 %, 91 %]",
        "Negligible findings: 1 of 12, 8 % [1 %, 35 %]",
        "Of the lead's 3 findings, repaired or reverted: 4 of 9, 44 % [19 %, 73 %]",
        "Of 3 by the rules alone: 2 of 9, 22 % [6 %, 55 %]",
    ]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days of three merges, one of them without product code; #1 is reverted, #2 repaired."""
    folder = tmp_path_factory.mktemp("days") / "clone"
    with building(folder) as builder:
        builder.commit("Begin", {"engine/batch.py": b"def split_all(batch):\n    return list(batch)\n"})
        for number in range(1, 7):
            path = "docs/page.md" if number % 3 == 0 else f"engine/part{number}.py"
            at = BEGIN + timedelta(days=1 + (number - 1) // 3, hours=number)
            builder.commit(f"Part {number} (#{number})", {path: f"{make_quote(number)}\n".encode()}, at=at)
        words = 'Revert "Part 1" (#11)\n\nReverts octo/engine#1'
        builder.commit(words, {"engine/part1.py": None}, at=BEGIN + timedelta(days=5))
        words = "Fix a crash (#12)\n\nFixes a regression from #2."
        builder.commit(words, {"engine/part2.py": b"size = 1\n"}, at=BEGIN + timedelta(days=6))
        builder.commit("Much later (#200)", {"README.md": b"engine\n"}, at=BEGIN + timedelta(days=120))
    git(folder, "remote", "add", "origin", "https://github.com/octo/engine.git")
    return folder


def answer(folder: Path, report: Callable[[int], Mapping[str, Any]]) -> dict[int, int]:
    """Write the answer of each prompt; return the prompt of each merge."""
    places = {}
    for path in sorted((folder / "merges").iterdir()):
        number = json.loads(path.read_text())["number"]
        places[number] = int(path.stem)
        (folder / "answers" / path.name).write_text(json.dumps(report(number)))
    return places


@pytest.mark.slow
@needs_git
def test_days_are_collected_read_judged_and_scored(clone: Path, tmp_path: Path) -> None:
    folder = tmp_path / "days"

    def run(*arguments: str) -> CompletedProcess[str]:
        return run_evals(tmp_path, "days", *arguments)

    dates = ("--since=2025-01-01", "--until=2025-03-31", "--timezone=UTC", "--days=2", "--least=3")
    done = run("collect", str(folder), f"--clone={clone}", *dates)
    assert (done.returncode, done.stderr) == (0, "")
    assert "6 merges, 4 prompts" in done.stdout
    visible = "".join(path.read_text() for path in folder.rglob("*.json"))
    assert '"later"' not in visible
    assert "Revert" not in visible
    assert "is not read: there is no answer" in run("score", str(folder)).stdout
    places = answer(folder, lambda number: report_bug(number) if number != 5 else review_answer())
    assert "3 merges to judge" in run("judge", str(folder)).stdout
    first = json.loads((folder / "judge" / f"{places[1]:03}.json").read_text())
    assert [each["number"] for each in first["later"]] == [11]
    assert len(first["findings"]) == 1
    assert str(clone) in (folder / "JUDGE.md").read_text()
    assert "#1 is not judged" in run("score", str(folder)).stdout
    for number, verdict in {
        1: {"findings": ["true"], "named": {"11": 1}},
        2: {"findings": ["true"], "named": {"12": 1}},
        4: {"findings": ["undecided"], "named": {}},
    }.items():
        (folder / "verdicts" / f"{places[number]:03}.json").write_text(json.dumps(verdict))
    scored = run("score", str(folder))
    assert "Repairs and reverts that a finding names: 2 of 2, 100 %" in scored.stdout
    assert "True findings: 2 of 3" in scored.stdout
    assert scored.returncode == 1, "two of three are too few"
    (folder / "verdicts" / f"{places[4]:03}.json").write_text('{"findings": []}')
    assert "does not fit its 1 finding" in run("score", str(folder)).stderr
