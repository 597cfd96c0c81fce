"""The units of systemd: it accepts them, and they leave little to a process that was taken over."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.files import DEPLOY

UNITS = ["prdigest.service", "prdigest@.service"]
COMMAND = "/opt/prdigest/.venv/bin/prdigest"
ANALYZE = shutil.which("systemd-analyze")
# of `systemd-analyze security`, from 0 (nothing is exposed) to 10; a service without any option has 9.6
MOST_EXPOSED = 2.0


def read_unit(name: str) -> str:
    return (DEPLOY / "systemd" / name).read_text(encoding="utf-8")


@pytest.fixture(params=UNITS)
def unit(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / str(request.param).replace("@.", "@worker.")
    path.write_text(read_unit(request.param).replace(COMMAND, sys.executable), encoding="utf-8")
    return path


def analyze(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    if ANALYZE is None:
        pytest.skip("there is no systemd-analyze")
    return subprocess.run([ANALYZE, *arguments], capture_output=True, text=True, check=False, timeout=60)


def test_systemd_accepts_it(unit: Path) -> None:
    done = analyze("verify", "--man=no", unit)
    # it also reports on units of this machine
    assert [line for line in done.stderr.splitlines() if unit.name in line] == []


def test_systemd_refuses_what_is_wrong(unit: Path) -> None:
    unit.write_text(
        unit.read_text(encoding="utf-8").replace("Restart=always", "Restart=perhaps"), encoding="utf-8"
    )
    assert "perhaps" in analyze("verify", "--man=no", unit).stderr


def test_little_is_exposed(unit: Path) -> None:
    done = analyze("security", "--offline=true", unit)
    match = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert match, done.stderr
    assert float(match[1]) <= MOST_EXPOSED


@pytest.mark.parametrize("name", UNITS)
def test_it_has_a_folder_that_stays_and_time_to_end(name: str) -> None:
    options = dict(re.findall(r"^(\w+)=(.*)$", read_unit(name), re.MULTILINE))
    assert int(options["TimeoutStopSec"]) > 20
    assert options["WorkingDirectory"] == f"/var/lib/{options['StateDirectory']}"
    assert f"PRDIGEST_STATE_DIR={options['WorkingDirectory']}" in options["Environment"]


def test_both_are_as_strict() -> None:
    strict = [
        text.partition("CapabilityBoundingSet")[2].partition("[Install]")[0] for text in map(read_unit, UNITS)
    ]
    assert strict[0] == strict[1] != ""
