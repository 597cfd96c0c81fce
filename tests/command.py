"""Runs ``prdigest`` as a process of its own, as a person or a scheduler would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]


def environment(**settings: str) -> dict[str, str]:
    """The bare environment of a process: a path, a home, and the settings given."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **settings}


def command(*arguments: str) -> list[str]:
    """The command line of a prdigest command in this interpreter."""
    return [sys.executable, "-m", "bot", *arguments]


def prdigest(
    *arguments: str, settings: Mapping[str, str], folder: Path, typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a folder; ``typed`` is its standard input."""
    return subprocess.run(
        command(*arguments),
        env=environment(**settings),
        cwd=folder,
        input=typed,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
