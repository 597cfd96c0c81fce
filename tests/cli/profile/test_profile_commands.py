from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from bot.cli import cli
from impact.profile.profile_json import parse_profile


def test_a_folder_is_scanned_and_written(tmp_path: Path) -> None:
    tree, out = tmp_path / "team", tmp_path / "out.json"
    (tree / ".git" / "x").mkdir(parents=True)
    (tree / ".git" / "x" / "hook.py").write_text("import vllm\n")
    (tree / "a.py").write_text("from vllm import LLM\nclass Mine(LLM): ...\n")
    (tree / "big.py").write_text("#" * 600_000)
    (tree / "image.py").write_bytes(b"\0\0")
    result = CliRunner().invoke(cli, ["profile", "scan", str(tree), "--out", str(out)])
    assert result.exit_code == 0, result.output
    profile = parse_profile(out.read_text())
    assert {use.name for use in profile.uses} == {"vllm.LLM"}
    assert [(each.path, each.reason) for each in profile.unread] == [("big.py", "it is too large")]
    assert "Mine" in result.output


def test_a_review_is_written_as_yaml(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import os\nos.environ['VLLM_X']\n")
    out = tmp_path / "out.yaml"
    CliRunner().invoke(cli, ["profile", "scan", str(tmp_path), "--name", "mine", "--out", str(out)])
    assert "2: sets or reads the variable VLLM_X" in out.read_text()


def test_a_manual_file_that_is_wrong_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manual.yaml").write_text("more: 1\n")
    result = CliRunner().invoke(cli, ["profile", "scan", str(tmp_path), "--manual", str(tmp_path / "manual.yaml")])
    assert result.exit_code != 0
