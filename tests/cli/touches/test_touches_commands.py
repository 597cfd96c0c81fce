"""``prdigest touches evaluate`` and ``prdigest contract`` on a small upstream and what is built on it."""

import csv
import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from impact.testing.clones import BEGIN, building, git, needs_git
from tests.cli.conftest import Call
from tests.helpers.checks import is_one_sentence

pytestmark = [pytest.mark.slow, needs_git]

DATES = ("--since=2025-01-07", "--until=2025-01-20")
MAKE = "def make(config{more}):\n    return Scheduler(config)\n"
SCHEDULER = "class Scheduler:\n    def __init__(self, config):\n        self.config = config\n"
UTILS = "def old_name():\n    return 1\n\n\ndef unused():\n    return 2\n"
PLUGIN = """from engine.core import Scheduler, make
from engine.utils import old_name


class Plugin(Scheduler):
    def start(self):
        return make({}), old_name()
"""


@dataclass(frozen=True)
class Clones:
    upstream: Path
    downstream: Path

    @property
    def options(self) -> tuple[str, ...]:
        return ("touches", "evaluate", f"--upstream={self.upstream}", f"--downstream={self.downstream}", *DATES)


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> Clones:
    """Three of seven merges break the plugin, which adapts to them later and says so."""
    folder = tmp_path_factory.mktemp("touches")
    core = f"{SCHEDULER}\n\n{MAKE.format(more='')}"
    asking = core.replace("make(config)", "make(config, device)")
    moved = MAKE.format(more=", device").replace("Scheduler", "scheduler.Scheduler")
    begin = {"engine/__init__.py": "", "engine/core.py": core, "engine/utils.py": UTILS}
    merges: dict[str, dict[str, str]] = {
        "Ask for a device (#2)": {"engine/core.py": asking},
        "Explain (#3)": {"README.md": "# Engine\n"},
        "Drop what is old (#4)": {"engine/utils.py": UTILS.partition("\n\n\n")[2]},
        "Without a number": {"README.md": "# The engine\n"},
        "Add a tool (#5)": {"engine/extra.py": "def tool():\n    return 3\n"},
        "Move the scheduler (#6)": {
            "engine/core.py": f"from engine import scheduler\n\n\n{moved}",
            "engine/scheduler.py": SCHEDULER,
        },
        "Drop what nobody uses (#7)": {"engine/utils.py": "\n"},
    }
    with building(folder / "engine") as builder:
        pins = [builder.sha(builder.commit("Begin (#1)", _encode(begin)))]
        for number, (message, files) in enumerate(merges.items(), 1):
            mark = builder.commit(message, _encode(files), at=BEGIN + timedelta(days=2 * number))
            pins.append(builder.sha(mark))
    git(folder / "engine", "tag", "v0.2.0")
    first = PLUGIN.replace("make({})", "make({}, None)").replace("from engine.utils import old_name\n", "")
    second = first.replace("engine.core import Scheduler, make", "engine.core import make")
    with building(folder / "plugin") as builder:
        builder.commit("Begin", _encode({"plugin/main.py": PLUGIN, "ci.yml": f"engine: {pins[0]}\n"}))
        for day, message, text, pin in (
            (9, "Adapt to octo/engine#2, and to octo/engine#4", first, f"engine: {pins[4]}"),
            (20, "Adapt to octo/engine#6", second, "image: octo/engine:v0.2.0"),
        ):
            files = {"plugin/main.py": text.replace("old_name()", "1"), "ci.yml": f"{pin}\n"}
            builder.commit(message, _encode(files), at=BEGIN + timedelta(days=day))
    return Clones(folder / "engine", folder / "plugin")


def _encode(files: dict[str, str]) -> dict[str, bytes | None]:
    return {path: text.encode() for path, text in files.items()}


def _read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class TestEvaluate:
    def test_every_merge_has_its_row(self, clones: Clones, tmp_path: Path, call_command: Call) -> None:
        out = tmp_path / "out.csv"
        done = call_command(*clones.options, f"--out={out}", "--name=sample", settings={})
        assert (done.returncode, done.stderr) == (0, "")
        rows = _read_rows(out)
        counts = ["breaks", "may_break", "names", "uses", "changes"]
        assert list(rows[0]) == ["pr", "date", "window", "level", "score", *counts, "change", "use"]
        assert [rows[0][name] for name in ("date", "window", "breaks", "names")] == ["2025-01-08", "0", "1", "1"]
        levels = {row["pr"]: row["level"] for row in rows}
        assert levels == {"2": "breaks", "3": "no", "4": "breaks", "5": "no", "6": "breaks", "7": "no"}
        described = {row["pr"]: (row["change"], row["use"]) for row in rows}
        assert described["4"][0] == "removed function engine.utils.old_name"
        assert described["4"][1].startswith("plugin/main.py:2 imports engine.utils.old_name")
        assert described["3"] == ("", "")
        assert "sample on engine, merged 2025-01-07 to 2025-01-20 (UTC)" in done.stdout
        assert "Verdict: Only 3 of the merges were named later" in done.stdout

    @pytest.mark.parametrize(
        "options", [("--processes=1",), ("--processes=2", "--windows=auto"), ("--windows=weeks",)]
    )
    def test_the_windows_are_those_of_the_pins_or_weeks(
        self, clones: Clones, tmp_path: Path, call_command: Call, options: tuple[str, ...]
    ) -> None:
        truth = tmp_path / "truth.csv"
        truth.write_text("upstream_pr,kind\n2,signature\n4,removed\n6,moved\n7,behaviour\n99,moved\n")
        done = call_command(*clones.options, *options, f"--truth={truth}", "--json", settings={})
        assert (done.returncode, done.stderr) == (0, "")
        figures = json.loads(done.stdout)
        assert [window["merges"] for window in figures["windows"]] == [3, 3]
        # a commit that moved the pin, or a day
        titles = [window["title"] for window in figures["windows"]]
        assert [("2025-" in title) for title in titles] == [options[-1].endswith("weeks")] * 2
        assert (figures["cases"], figures["named"], figures["outside"]) == (6, 4, 1)
        kinds = {row["kind"]: (row["merges"], row["breaks"]) for row in figures["kinds"]}
        assert kinds["structural"] == (3, 1.0)
        assert kinds["behaviour"] == (1, 0.0)
        breaks = figures["levels"][0]
        assert (breaks["merges"], breaks["named"]["value"]) == (3, 1.0)
        # the plugin changed lines of each of them
        assert figures["changed"]["hits"]["value"] == 1.0

    @pytest.mark.parametrize(
        "options",
        [
            ("--until=2024-01-01",),
            ("--since=2026-01-01", "--until=2026-01-02"),
            ("--windows=nowhere.csv",),
            ("--truth=nowhere.csv",),
            ("--upstream=nowhere",),
        ],
    )
    def test_what_cannot_be_measured_ends_in_a_sentence(
        self, clones: Clones, call_command: Call, options: tuple[str, ...]
    ) -> None:
        done = call_command(*clones.options, *options, settings={})
        assert done.returncode == 2
        assert is_one_sentence(done.stderr.strip())


class TestContract:
    def test_rows_come_by_class(self, clones: Clones, call_command: Call) -> None:
        options = ("contract", f"--clone={clones.upstream}", *DATES)
        done = call_command(*options, "--json", "--repo=octo/engine", settings={})
        assert (done.returncode, done.stderr) == (0, "")
        rows = json.loads(done.stdout)["changes"]
        (gone,) = (row for row in rows if row["name"] == "engine.utils.old_name")
        assert (gone["pr"], gone["class"], gone["kind"], gone["line"]) == (4, "function", "removed", 1)
        assert gone["url"].startswith("https://github.com/octo/engine/blob/")
        assert gone["url"].endswith("/engine/utils.py#L1")
        moved = {row["name"]: row["after"] for row in rows if row["kind"] == "moved"}
        assert moved == {"engine.core.Scheduler": "engine.scheduler.Scheduler"}
        table = call_command(*options, settings={}).stdout
        assert table.index("removed: engine.utils.old_name  #4  engine/utils.py:1") < table.index("signature:")

    def test_it_needs_a_clone(self, call_command: Call) -> None:
        done = call_command("contract", *DATES, settings={})
        assert done.returncode == 2
        assert is_one_sentence(done.stderr.strip())
