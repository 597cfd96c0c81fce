"""``python -m evals reverts`` on a small pack: what it counts and prints, and how it ends."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evals.__main__ import main

HISTORY, LABELS = "history-2025.jsonl.gz", "labels-2025.csv"
TITLES = ["Count once", 'Revert "Count once"', "Use a pool", "Undo the pool", "Cache", "Fix a crash since #5"]


def pack(folder: Path, *labels: str, titles: list[str] = TITLES) -> Path:
    rows = [
        {
            "number": at,
            "title": title,
            "author": "Ada",
            "merged_at": f"2025-03-01T00:00:0{at}+00:00",
            "sha": f"{at:040x}",
            "files": [],
        }
        for at, title in enumerate(titles, 1)
    ]
    (folder / HISTORY).write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    head = "pr,merged_at,reverted_by,reverted_at,fixed_by,fixed_at,szz_fix_by"
    (folder / LABELS).write_text("\n".join([head, *labels, ""]), encoding="utf-8")
    return folder


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["reverts", *map(str, arguments)])


def test_what_was_found_and_missed_is_counted_and_listed(tmp_path: Path) -> None:
    ended = run(pack(tmp_path, "1,,2,,,,", "2,,,,,,", "3,,4;99,,,,", "5,,,,6,,"))
    assert ended.output.splitlines() == [
        "reverted: 1 of 2 pull requests; pairs: 3 known, 1 found, 0 false",
        "named fix: 1 of 1 pull requests; pairs: 1 known, 1 found, 0 false",
        "",
        " false      by  title of what took it back or repaired it",
        "",
        "missed      by  title of what took it back or repaired it",
        "     3       4  Undo the pool",
        "     3      99  (not in the pack)",
    ]
    assert ended.exit_code == 0


def test_a_pair_that_is_none_fails(tmp_path: Path) -> None:
    ended = run(pack(tmp_path, "1,,,,,,"))
    assert "     1       2  Revert" in ended.output.partition("missed")[0]
    assert ended.exit_code == 1


@pytest.mark.parametrize("missing", [HISTORY, LABELS])
def test_a_folder_without_a_pack_is_named(tmp_path: Path, missing: str) -> None:
    (pack(tmp_path) / missing).unlink()
    ended = run(tmp_path)
    assert f"{tmp_path / missing} is not there: give the folder of the record." in ended.output
    assert ended.exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["--help"], "reverts"),
        (["reverts", "--help"], "FOLDER"),
        (["questions", "--help"], "--least"),
        (["--least", "2"], "--least"),
        (["nothing.toml"], "nothing.toml"),
    ],
)
def test_questions_are_what_is_meant_where_no_command_is_named(arguments: list[str], fragment: str) -> None:
    assert fragment in CliRunner().invoke(main, arguments).output
