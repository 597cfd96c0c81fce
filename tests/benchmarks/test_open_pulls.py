"""The whole measurement of open pull requests, on a small clone."""

from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.open_pulls import add_options, measure_open_pulls
from benchmarks.table import Table
from impact.profile.models import dump_profile
from impact.testing.clones import building, needs_git
from tests.features.touches.worlds import AFTER, BEFORE, PROFILE

pytestmark = [needs_git, pytest.mark.slow]


def test_a_clone_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with building(tmp_path / "up") as builder:
        builder.commit("Begin (#1)", BEFORE)
        builder.commit("Remove stop (#2)", AFTER)
        builder.commit("Say why (#3)", {"docs.md": b"Why.\n"})
    (tmp_path / "profile.json").write_text(dump_profile(replace(PROFILE, name="ascend")))
    parser, table = ArgumentParser(), Table()
    add_options(parser)
    line = [f"--upstream={tmp_path / 'up'}", f"--profile={tmp_path / 'profile.json'}", "--pulls=2"]
    measure_open_pulls(table, parser.parse_args(line))
    output = capsys.readouterr().out
    assert "1 would break ascend, or may" in output
    assert not table.missed
