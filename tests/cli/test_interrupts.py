"""Ctrl-C ends a command without a traceback, at whatever moment it comes."""

from pathlib import Path

import pytest

from tests.helpers.processes.command import ROOT, prdigest, start_interpreter

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("module", ["click", "flask"])
def test_ctrl_c_while_it_is_still_importing_is_one_sentence(tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text("raise KeyboardInterrupt\n")
    process_result = prdigest(
        "demo", settings={"PYTHONPATH": f"{tmp_path}:{ROOT}"}, folder=tmp_path, start=start_interpreter
    )
    assert (process_result.returncode, process_result.stdout) == (130, "")
    assert (
        process_result.stderr.lstrip()
        == "Interrupted: posted messages stay, and the same command continues from there.\n"
    )
