"""``python -m evals others`` on small histories: whom another's commit warns, and what became of each warning."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from evals.__main__ import main
from impact.testing.clones import BEGIN, Builder, building, needs_git

# what each merge takes away, from #2 on
NAMES = ("answered", "changed", "passed", "tested", "late", "unpinned", "left")
PIN = ".github/engine.commit"
WARNING = re.compile(
    r"warning (\w+) #(\d) BREAKS (\S+) .* named (\S+) .* tests (\w+), changed ([\w-]+).* last tree (\w+) \| (.*)"
)

FOLDERS = (("upstream", "engine"), ("downstream", "loud"), ("downstream", "quiet"))
LINES = """\
loud: names 6 of 7 merges as causes
quiet: names 2 of 7 merges as causes
named by two or more: 1 causes, 1 later ones; before the later one: 1 of 1 early, median 6.8 days
warnings of level BREAKS and above: 6, for tests alone: 1; of the others, with a known pin: 4; \
named later: 1 of 1 early, median 6.8 days; touched less later: 2 of 2 early, median 7.8 days; \
neither, and passed: 1, or open at the end: 2"""


def use(*names: str, folder: str = "plugin") -> dict[str, bytes | None]:
    text = "from engine.{0} import make_{0}\n\nmade = make_{0}()\n"
    return {f"{folder}/{name}.py": text.format(name).encode() for name in names}


def adapt(builder: Builder, day: int, numbers: str = "", name: str = "") -> None:
    """Add a commit that names merges, if any, and no longer uses what one of them takes away."""
    message = "\n\nBroken by octo/engine#".join(["Fix it", *numbers])
    builder.commit(message, {f"plugin/{name}.py": b"made = 1\n"} if name else {}, at=BEGIN + timedelta(day))


@needs_git
@pytest.mark.parametrize("is_pinned", [True, False], ids=["pinned-before", "first-pinned-in-time"])
def test_what_became_of_warnings_is_told(tmp_path: Path, is_pinned: bool) -> None:
    with building(tmp_path / "engine") as builder:
        files = {f"engine/{name}.py": f"def make_{name}():\n    return 1\n".encode() for name in NAMES}
        marks = [builder.commit("Begin (#1)", {**files, "engine/__init__.py": b""}, at=BEGIN - timedelta(3))]
        builder.now = BEGIN + timedelta(1)
        for number, path in enumerate(files, 2):
            marks.append(builder.commit(f"Drop it (#{number})", {path: b""}))
        commits = [builder.sha(each) for each in marks]
    with building(tmp_path / "loud") as builder:
        builder.commit("Begin", use("unpinned"), at=BEGIN - timedelta(2))
        adapt(builder, 3, "23458")
        adapt(builder, 20, "6")
    with building(tmp_path / "quiet") as builder:
        uses = use("answered", "changed", "passed", "late", "left") | use("tested", folder="tests")
        pin = {PIN: commits[0].encode()} if is_pinned else {}
        builder.commit("Begin", uses | pin, at=BEGIN - timedelta(2))
        adapt(builder, 5, "7")
        builder.commit("Follow", {PIN: commits[6].encode()}, at=BEGIN + timedelta(8))
        adapt(builder, 10, "2", "answered")
        adapt(builder, 12, "", "changed")
        adapt(builder, 90, "", "left")
    folders = [f"--{side}={tmp_path / name}" for side, name in FOLDERS]
    ended = CliRunner().invoke(main, ["others", *folders, "--since=2025-01-07", "--until=2025-02-28", "--list"])
    assert ended.exit_code == 0, ended.output
    # no warning of #6: the pin was past it when it was named
    assert WARNING.findall(ended.output) == [
        ("loud", "7", "2025-01-11", "none", "BREAKS", "none", "BREAKS", "no pin"),
        ("quiet", "2", "2025-01-09", "2025-01-16", "BREAKS", "2025-01-16", "NO", "passed"),
        ("quiet", "3", "2025-01-09", "none", "BREAKS", "2025-01-18", "NO", "passed"),
        ("quiet", "4", "2025-01-09", "none", "BREAKS", "none", "BREAKS", "passed"),
        ("quiet", "5", "2025-01-09", "none", "NO", "none", "NO", "passed"),
        ("quiet", "8", "2025-01-09", "none", "BREAKS", "none", "BREAKS", "not past"),
    ]
    assert set(LINES.split("\n")) <= set(ended.output.split("\n"))
    assert "pair #2: loud 2025-01-09" in ended.output
