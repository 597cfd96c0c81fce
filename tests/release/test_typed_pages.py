import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from tests.helpers.documented_commands import RUN_ELSEWHERE, RUN_PAGES, SHELL, find_own, list_blocks, split_line
from tests.helpers.processes.command import environment, prdigest
from tests.helpers.world import world

# a check fails in a place without subscriptions or tokens of the right scopes, and the command says so
EXPECTED_CODES: dict[tuple[str, ...], set[int]] = {("doctor",): {0, 1}}


def list_run_lines(page: str) -> list[str]:
    """Return the lines of a page's blocks that are run, in their order."""
    lines = [
        line.strip()
        for name, language, text in list_blocks()
        if name == page and language in SHELL
        for line in text.splitlines()
    ]
    return [line for line in lines if (own := find_line_command(page, line)) and own[:1] not in RUN_ELSEWHERE]


def find_line_command(page: str, line: str) -> tuple[str, ...] | None:
    return next((own for each in split_line(page, line) if (own := find_own(each.words))), None)


def run_line(
    line: str, own: tuple[str, ...], settings: dict[str, str], folder: Path, tools: Path
) -> subprocess.CompletedProcess[str]:
    """Run a line: by a shell if it has more than one command, else as a fork, which takes a tenth of the time."""
    if re.fullmatch(r"[\w=./: -]+", line):
        assigned = dict(re.findall(r"([A-Z_]+)=(\S*)", line))
        return prdigest(*own, settings=settings | assigned, folder=folder, typed="n\n")
    bash, env = shutil.which("bash"), environment(**settings)
    assert bash
    return subprocess.run(
        [bash, "-euc", line],
        cwd=folder,
        env=env | {"PATH": f"{tools}:{env['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN_PAGES)
def test_a_reader_who_types_them_one_after_the_other_gets_through(
    page: str, store: Redis, store_url: str, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    # `uv run --no-dev prdigest …` without an installation
    scripts = {
        "prdigest": f'#!/bin/sh\nexec "{sys.executable}" -m bot "$@"\n',
        "uv": '#!/bin/sh\nwhile [ "$1" = run ] || [ "$1" = --no-dev ]; do shift; done\nexec "$@"\n',
    }
    for name, text in scripts.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    folder = tmp_path / "checkout"
    folder.mkdir()
    lines = list_run_lines(page)
    assert len(lines) > 1
    with world(store_url) as there:
        there.github.add("octo/engine")
        for line in lines:
            own = find_line_command(page, line) or ()
            done = run_line(line, own, there.settings | {"PRDIGEST_REPO": "octo/engine"}, folder, tools)
            assert done.returncode in EXPECTED_CODES.get(own[:1], {0}), (line, done.stdout, done.stderr)
            assert "Traceback" not in done.stderr
    written = {each.name for each in folder.iterdir()}
    assert written == {".env" if page == "docs/install.md" else "backup"}
