import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from bot.mcp import EXTRA_HINT
from tests.helpers.processes.command import ROOT

COMMAND = "import sys; from bot.__main__ import main; sys.exit(main())"


def test_the_command_says_what_to_install(tmp_path: Path) -> None:
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if package.name.split("-")[0] != "uvicorn":
            (tmp_path / package.name).symlink_to(package)
    # without the machine's own packages
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'impact'}:{tmp_path}"}
    done = subprocess.run(
        [sys.executable, "-S", "-c", COMMAND, "mcp"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert EXTRA_HINT in done.stderr
