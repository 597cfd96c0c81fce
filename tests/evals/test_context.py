"""``python -m evals context`` on a small recorded day: it passes right functions and names wrong ones."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bot.platform.source import excerpts as change_context
from bot.platform.source.excerpts import Scope
from evals.__main__ import main

FILE = "\n".join(
    [
        "class Pool:",
        "    @staticmethod",
        "    def take(",
        "        count: int,",
        "    ) -> int:",
        "        free = 3",
        *(f"        free += {number}" for number in range(40)),
        "        return free - count",
        "",
        *(f"OTHER_{number} = {number}" for number in range(60)),
        "",
    ]
)
FITTING = "@@ -44,3 +44,3 @@ class Pool:\n         free += 38\n-        free += 39\n+        free += 40"
UNFITTING = "@@ -90,2 +90,2 @@\n OTHER_41 = 41\n-OTHER_42 = 0\n+OTHER_42 = 1"


def run(folder: Path, patch: str) -> Result:
    records = [{"filename": "pool.py", "status": "modified", "patch": patch}]
    (folder / "replay" / "2026-01-05" / "files").mkdir(parents=True)
    (folder / "replay" / "2026-01-05" / "files" / "1.json").write_text(json.dumps(records))
    (folder / "tree").mkdir()
    (folder / "tree" / "pool.py").write_text(FILE)
    return CliRunner().invoke(
        main, ["context", "--tree", str(folder / "tree"), "--replay", str(folder / "replay")]
    )


def test_right_functions_pass_and_hunks_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    ended = run(tmp_path, f"{FITTING}\n{UNFITTING}")
    assert (ended.exit_code, ended.output) == (0, "1 files, 1 of 2 hunks fit the tree, 0 problems\n")


def test_a_wrong_function_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_context, "list_scopes", lambda path, text: (Scope(30, 30, 47),))
    ended = run(tmp_path, FITTING)
    assert ended.exit_code == 1
    assert "pool.py: line 1 is missing\n" in ended.output


def test_a_tree_that_no_hunk_fits_proves_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, UNFITTING).exit_code == 1
