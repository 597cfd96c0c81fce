"""Long work shows a bar on a terminal, and nothing where stderr is none."""

import fcntl
import os
import pty
import struct
import termios
from pathlib import Path

import pytest
from redis import Redis

from bot.cli.base import show_progress_bar
from tests.helpers.processes.command import started
from tests.helpers.world import SMALL_DAY, add_small_day, world

pytestmark = pytest.mark.slow


def _on_a_terminal(*arguments: str, settings: dict[str, str], folder: Path) -> str:
    """What a command writes to a terminal of 100 columns on its stderr."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    with Path(os.devnull).open("r+b", buffering=0) as nothing:
        none = nothing.fileno()
        process = started(*arguments, settings=settings, folder=folder, files=(none, none, there))
    os.close(there)
    shown = _read_all(here)
    os.close(here)
    assert process.wait(timeout=60) == 0
    return shown


def _read_all(terminal: int) -> str:
    chunks = []
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks).decode()


def test_a_terminal_shows_how_far_the_work_is(store: Redis, store_url: str, tmp_path: Path) -> None:
    with world(store_url) as there:
        add_small_day(there.github, 3)
        shown = _on_a_terminal("report", *SMALL_DAY, settings=there.settings, folder=tmp_path)
    assert "Pull requests:" in shown
    assert "3/3" in shown


def test_a_scan_shows_a_bar_before_what_it_came_to(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import vllm\n")
    assert "Files: 1file" in _on_a_terminal("profile", "scan", str(tmp_path), settings={}, folder=tmp_path)


def test_where_no_terminal_is_a_line_says_how_far_it_is_every_30_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seconds = [0.0]
    with show_progress_bar("merge", "Merges", lambda: seconds[0]) as show:
        for done in range(1, 101):
            seconds[0] += 1.0
            show(done, 200 if done < 100 else 0)
    assert capsys.readouterr().err.splitlines() == [f"Merges: {done} of 200" for done in (30, 60, 90)]
