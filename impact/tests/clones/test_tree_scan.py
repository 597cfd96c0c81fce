"""A tree is linked to the commit of upstream that it pins, and told what the newest one lacks."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from impact.clones.kept_readings import KeptReadings, KeptValues
from impact.clones.tree_scan import DownstreamTree, TreeScan, scan_clone, scan_tree
from impact.clones.upstream_reader import UpstreamReader
from impact.git.clone_trees import open_clone_trees
from impact.profile.models import Profile, UseKind
from impact.profile.plain_uses import FileUses
from impact.source.models import SourceFile, SourceProblem
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
    with open_clone_trees(engine) as trees:
        at = datetime(2026, 1, 1, tzinfo=UTC)
        return scan_tree(Path("ours"), None, ("engine",), files, at, upstream=trees)


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


class CountedReadings(KeptReadings):
    """What is kept, and how many files were scanned as they were not."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.scanned = 0
        self.scans = KeptValues(folder / "scans.sqlite", FileUses, self.count)

    def count(self, scan: FileUses) -> bool:
        self.scanned += 1
        return not scan.problem.startswith("it could not be read")


def test_a_file_is_scanned_again_only_if_it_is_another_one(tmp_path: Path) -> None:
    broken = SourceFile("broken.py", "def (")
    unread = SourceFile("unread.py", problem=SourceProblem.UNAVAILABLE)
    files = [*(SourceFile(f"part{n}.py", OURS) for n in range(250)), broken, unread]

    def scan_files(packages: tuple[str, ...] = ("engine",)) -> tuple[Profile, int, list[tuple[int, int]]]:
        """The profile, how many files were scanned for it, and the progress."""
        heard: list[tuple[int, int]] = []

        def hear(done: int, total: int) -> None:
            heard.append((done, total))

        kept = CountedReadings(tmp_path)
        at = datetime(2026, 1, 1, tzinfo=UTC)
        made = scan_tree(Path("ours"), "ours", packages, files, at, progress=hear, kept=kept)
        return made.profile, kept.scanned, heard

    cold, scanned, heard = scan_files()
    assert (scanned, heard) == (252, [(100, 0), (200, 0), (252, 0)])
    # what may be there the next time is not kept
    assert scan_files() == (cold, 1, heard)
    files[0] = SourceFile("part0.py", f"{OURS}# changed\n")
    files[1] = SourceFile("moved.py", OURS)
    assert scan_files()[1] == 3
    assert scan_files(("motor",))[1] == 252
    before, (file,) = scan_files(), tmp_path.iterdir()
    file.write_bytes(b"no database" * 1_000)
    for _ in range(2):
        assert scan_files()[0] == before[0]
    # it was written anew
    assert scan_files() == before


def test_a_clone_is_scanned_with_what_is_kept(engine: Path, tmp_path: Path) -> None:
    kept, now, heard = KeptReadings(tmp_path), datetime(2026, 1, 1, tzinfo=UTC), list[tuple[int, int]]()
    newest = git(engine, "rev-parse", "HEAD")
    with open_clone_trees(engine) as trees:
        cold, warm, plain = (
            scan_clone(trees, "engine", newest, ("engine",), now, lambda *far: heard.append(far), each)
            for each in (kept, kept, None)
        )
    assert cold == warm == plain
    assert heard == [(2, 2)] * 3


def test_a_linked_profile_is_kept_by_the_commits_of_both_trees(engine: Path, tmp_path: Path) -> None:
    with building(tmp_path / "ours") as builder:
        builder.commit("Begin (#1)", {f"part{number}.py": OURS.encode() for number in range(100)})
        builder.commit("Go on (#2)", {"part0.py": b""})
    first, newest = (git(engine, "rev-parse", name) for name in ("HEAD~1", "HEAD"))

    def scan_at(base: str, commit: str, day: int) -> Profile:
        """What the tree uses. ``day`` is when it is scanned."""
        with open_clone_trees(engine) as upstream, open_clone_trees(tmp_path / "ours") as ours:
            tree = DownstreamTree(ours, "ours", datetime(2026, 1, day, tzinfo=UTC), commit)
            return UpstreamReader(upstream, kept=KeptReadings(tmp_path / "kept")).scan(tree, base)

    def count_overrides(profile: Profile) -> int:
        return sum(use.kind is UseKind.OVERRIDE for use in profile.uses)

    before = git(tmp_path / "ours", "rev-parse", "HEAD~1")
    cold = scan_at(first, before, 1)
    assert scan_at(first, before, 2) == cold
    assert [count_overrides(scan_at(*at, 3)) for at in ((first, before), (newest, before), (first, ""))] == [
        100,
        0,
        99,
    ]
