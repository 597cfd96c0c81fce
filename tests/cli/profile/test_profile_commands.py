from pathlib import Path

from click.testing import CliRunner

from bot.cli import cli
from impact.profile.models import parse_profile
from impact.testing.clones import building, git, needs_git


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


@needs_git
def test_a_scan_says_what_it_is_linked_to_and_what_upstream_no_longer_has(tmp_path: Path) -> None:
    upstream, tree = tmp_path / "engine", tmp_path / "ours"
    with building(upstream) as builder:
        builder.commit("Begin (#1)", {"engine/__init__.py": b"def run(): ...\ndef stop(): ...\n"})
        builder.commit("Drop stop (#2)", {"engine/__init__.py": b"def run(): ...\n"})
    first, newest = (git(upstream, "rev-parse", name) for name in ("HEAD~1", "HEAD"))
    tree.mkdir()
    (tree / "a.py").write_text("from engine import run, stop\n")
    (tree / "ci.yaml").write_text(f"engine_commit: {first}\n")
    command = ["profile", "scan", str(tree), "--upstream", str(upstream), "--package", "engine"]
    shown = CliRunner().invoke(cli, command).stdout
    assert f"Linked to upstream at {first[:10]}, which the tree pins.\n" in shown
    assert f"Upstream no longer has, at its newest commit {newest[:10]}:\n  a.py:1  engine.stop\n" in shown


def test_a_review_is_written_as_yaml(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import os\nos.environ['VLLM_X']\n")
    out = tmp_path / "out.yaml"
    CliRunner().invoke(cli, ["profile", "scan", str(tmp_path), "--name", "mine", "--out", str(out)])
    assert "2: sets or reads the variable VLLM_X" in out.read_text()


def test_a_manual_file_that_is_wrong_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manual.yaml").write_text("more: 1\n")
    result = CliRunner().invoke(cli, ["profile", "scan", str(tmp_path), "--manual", str(tmp_path / "manual.yaml")])
    assert result.exit_code != 0
