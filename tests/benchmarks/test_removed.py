"""The readers that prove whether a removed name is gone, and the whole measurement on a small clone."""

from argparse import ArgumentParser
from pathlib import Path

import pytest

from benchmarks.removed import ModuleTree, add_options, measure_removed
from benchmarks.table import Table
from impact.testing.checks import check_rows
from impact.testing.clones import building, needs_git

MODULES = {
    "up": "",
    "up.a": (
        "from up.b import moved\nfrom up.c import *\nimport json\nLOW, HIGH = 1, 2\nclass C(B): own = 1\n"
        "if TYPE_CHECKING:\n    import typing_only\n"
    ),
    "up.b": "def moved(): ...\n",
    "up.c": "def starred(): ...\ndef other():\n    inner = 1\n",
    "up.d": "from up.e import Base\nclass C(Base):\n    def m(self):\n        self.set_here: int = 1\n",
    "up.e": "class Base:\n    def inherited(self): ...\n",
}


@check_rows(
    [
        ("up.a.moved", "defined in up.b"),
        ("up.a.starred", "defined in up.c"),
        ("up.a.json", "imported by up.a"),
        ("up.a.HIGH", "bound in up.a"),
        ("up.a.C.own", "member of up.a.C"),
        ("up.d.C.set_here", "set by up.d.C"),
        ("up.d.C.inherited", "member of up.e.Base"),
        ("up.b", "module up.b"),
        ("up.a.typing_only", ""),
        ("up.a.inner", ""),
        ("up.a.C.gone", ""),
        ("up.c.gone", ""),
        ("up.gone.moved", ""),
    ]
)
def test_where_a_name_still_is(name: str, place: str) -> None:
    tree = ModuleTree(lambda module: (f"{module}.py", MODULES[module]) if module in MODULES else None)
    assert tree.find_name(name) == place


@needs_git
def test_a_clone_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with building(tmp_path / "up") as builder:
        builder.commit("Begin (#1)", {"up/__init__.py": b"", "up/a.py": b"def f(): ...\nONE = 1\n"})
        builder.commit("Remove f (#2)", {"up/a.py": b"ONE = 1\n"})
    parser, table = ArgumentParser(), Table()
    add_options(parser)
    measure_removed(table, parser.parse_args([f"--clone={tmp_path / 'up'}", "--merges=5"]))
    output = capsys.readouterr().out
    assert "1 merges until 2026-01-31, 1 Python names removed, 1 are found before" in output
    assert not table.missed
