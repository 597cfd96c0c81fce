"""How ``.ci/run`` comes by uv: also where the system manages Python's packages, so that pip refuses."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.command import ROOT

CHECKS = ["ruff check .", "ruff format --check .", "mypy", "lint-imports", "pytest"]
# a Python that notes what it is asked for, and where `MANAGED` refuses as Debian's does
PYTHON = """#!/bin/sh
echo "python3 $*" >> "$LOG"
case "$*" in
    "-m uv --version") [ -e "$HAS_UV" ] ;;
    "-m pip install"*) [ -z "$MANAGED" ] && touch "$HAS_UV" ;;
    "-m venv .uv") mkdir -p .uv/bin && cp "$TOOLS/pip" .uv/bin/pip ;;
    "-m uv run --locked"*) [ -e "$HAS_UV" ] ;;
    *) exit 64 ;;
esac
"""
PIP = """#!/bin/sh
echo "pip $*" >> "$LOG"
printf '#!/bin/sh\\necho "own uv $*" >> "$LOG"\\n' > .uv/bin/uv && chmod +x .uv/bin/uv
"""


def run_checks(folder: Path, *, managed: bool, has_uv: bool) -> list[str]:
    """What is called in a checkout that has nothing but the script, as lines."""
    tools, log = folder / "tools", folder / "log"
    tools.mkdir()
    for name, text in {"python3": PYTHON, "pip": PIP, "chromium": "#!/bin/sh\n"}.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    (folder / "checkout" / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", folder / "checkout" / ".ci")
    if has_uv:
        (folder / "has-uv").touch()
    given = {
        "PATH": f"{tools}:/usr/bin:/bin",
        "TOOLS": str(tools),
        "LOG": str(log),
        "HAS_UV": str(folder / "has-uv"),
    }
    env = {**given, "MANAGED": "yes" if managed else "", "HOME": os.environ.get("HOME", "/")}
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run([bash, ".ci/run"], cwd=folder / "checkout", env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return log.read_text().splitlines()


@pytest.mark.parametrize("managed", [False, True])
def test_the_uv_that_python_has_is_used(tmp_path: Path, managed: bool) -> None:
    called = run_checks(tmp_path, managed=managed, has_uv=True)
    assert called == ["python3 -m uv --version", *(f"python3 -m uv run --locked {check}" for check in CHECKS)]


def test_python_gets_uv_where_it_takes_packages(tmp_path: Path) -> None:
    called = run_checks(tmp_path, managed=False, has_uv=False)
    assert called[:2] == ["python3 -m uv --version", "python3 -m pip install --quiet uv"]
    assert called[2:] == [f"python3 -m uv run --locked {check}" for check in CHECKS]


def test_uv_gets_a_place_of_its_own_where_python_takes_none(tmp_path: Path) -> None:
    called = run_checks(tmp_path, managed=True, has_uv=False)
    assert called[2:4] == ["python3 -m venv .uv", "pip install --quiet uv"]
    assert called[4:] == [f"own uv run --locked {check}" for check in CHECKS]
