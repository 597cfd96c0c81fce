"""A tree is linked to the commit of upstream that it pins, and told what the newest one lacks."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from impact.clones.tree_scan import ScanSource, TreeScan, scan_tree
from impact.git.clone_trees import open_clone_trees
from impact.profile.models import UseKind
from impact.source.models import SourceFile
from impact.testing.checks import check_rows
from impact.testing.clones import building, git, needs_git

pytestmark = [pytest.mark.slow, needs_git]

OLD = b"class Engine:\n    def run(self): ...\n    def walk(self): ...\n\n\ndef stop(): ...\ndef rest(): ...\n"
NEW = b"class Engine:\n    def run(self): ...\n\n\ndef rest(): ...\n"
OURS = (
    "from engine import rest\nfrom engine.core import Engine, stop\n"
    "try:\n    from engine.core import stop as halt\nexcept ImportError:\n    halt = None\n"
    "class Ours(Engine):\n    def walk(self): ...\n    def own(self): ...\n"
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clones") / "engine"
    with building(folder) as builder:
        builder.commit("Begin (#1)", {"engine/__init__.py": b"from .core import *\n", "engine/core.py": OLD})
        builder.commit("Drop walk (#2)", {"engine/core.py": NEW})
    git(folder, "tag", "v1.2.0", "HEAD~1")
    return folder


def scan(engine: Path, pin: str) -> TreeScan:
    files = [SourceFile("ours.py", OURS), SourceFile("requirements.txt", f"{pin}\n")]
    source = ScanSource("ours", "ours", "", ("engine",))
    with open_clone_trees(engine) as trees:
        return scan_tree(source, files, datetime(2026, 1, 1, tzinfo=UTC), upstream=trees)


def test_a_tree_is_linked_to_what_it_pins(engine: Path) -> None:
    first, newest = (git(engine, "rev-parse", name) for name in ("HEAD~1", "HEAD"))

    @check_rows(
        {
            "a commit": (f"engine_commit: {first}", f"Linked to upstream at {first[:10]}", True),
            "a version": ("engine==1.2.0", f"at {first[:10]}, which the tree pins as v1.2.0.", True),
            "an unknown commit": (f"engine_commit: {'a' * 40}", "which the clone lacks", False),
            "nothing": ("", f"newest commit, {newest[:10]}: the tree pins no commit", False),
        }
    )
    def check(pin: str, sentence: str, is_pinned: bool) -> None:
        made = scan(engine, pin)
        assert sentence in made.link
        overrides = [use.definitions for use in made.profile.uses if use.kind is UseKind.OVERRIDE]
        # what was removed since is known by the commit alone that had it
        assert overrides == ([("engine.core.Engine.walk",)] if is_pinned else [])
        gone = {(use.line, use.kind, use.name) for use in made.gone}
        lost = {(2, UseKind.IMPORT, "engine.core.stop")}
        assert gone == lost | ({(8, UseKind.OVERRIDE, "engine.core.Engine.walk")} if is_pinned else set())
        assert made.newest == newest

    check()
