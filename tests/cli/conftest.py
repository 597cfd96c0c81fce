from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Mapping
from typing import Protocol

import pytest

from bot.__main__ import main


class Call(Protocol):
    def __call__(self, *arguments: str, settings: Mapping[str, str]) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def call_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> Call:
    """As :func:`tests.helpers.processes.command.prdigest`, without the process, which takes 0.1 seconds."""

    def call(*arguments: str, settings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        caplog.clear()
        with monkeypatch.context() as process:
            for name, value in settings.items():
                process.setenv(name, value)
            process.setattr(sys, "argv", ["prdigest", *arguments])
            code = main()
        output = capsys.readouterr()
        # a process writes it to the same place
        logged = "".join(f"{each.message}\n" for each in caplog.records if each.levelno >= logging.WARNING)
        return subprocess.CompletedProcess(arguments, code, output.out, logged + output.err)

    return call
