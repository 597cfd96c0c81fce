"""What is between two commits of a clone; the messages are searched once for what they revert."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from impact.clones.clone_contracts import ContractExtractor
from impact.clones.kept_readings import KeptReadings, find_kept_readings
from impact.clones.upstream_line import read_upstream
from impact.clones.upstream_reader import UpstreamReader
from impact.contract.models import MergeContract
from impact.coverage import UnreadFile
from impact.errors import READING_FAILED
from impact.git.clone_trees import open_clone_trees
from impact.history.outcomes import OutcomeKind
from impact.history.reverts import Revert, parse_claim
from impact.repository import Repository
from impact.source.models import SourceProblem
from impact.testing.clones import BEGIN, building, needs_git
from impact.touches.upgrade import UpgradeRange

pytestmark = [pytest.mark.slow, needs_git]


@contextmanager
def list_parsed() -> Iterator[list[int]]:
    """Collect the numbers of the merges whose claims are parsed within the block."""
    numbers: list[int] = []

    def hear(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code is parse_claim.__code__:
            numbers.append(frame.f_locals["pull"].number)

    before = sys.getprofile()
    sys.setprofile(hear)
    try:
        yield numbers
    finally:
        sys.setprofile(before)


def test_reverts_on_the_way_and_after_it_come_from_one_search(tmp_path: Path) -> None:
    code = {"engine/core.py": b"def run(a):\n    return a\n"}
    with building(tmp_path / "engine") as builder:
        builder.commit("Begin (#1)", {"engine/__init__.py": b"", **code})
        builder.commit("Drop run (#2)", {"engine/core.py": b""})
        builder.commit('Revert "Drop run" (#3)\n\nReverts octo/engine#2', code)
        end = builder.commit("Walk (#4)", {"engine/walk.py": b"def walk(): ...\n"})
        builder.commit('Revert "Walk" (#5)\n\nReverts octo/engine#4', {"engine/walk.py": None})
        end_sha = builder.sha(end)
    with open_clone_trees(tmp_path / "engine") as trees, list_parsed() as parsed:
        first = trees.list_line()[0].sha
        way = UpstreamReader(trees, Repository("octo", "engine")).read_range(first, end_sha)
    # of what was reverted only after the end, the revert is none on the way
    assert way.reverts == (Revert(2, 3),)
    assert [(each.pull.number, each.by.number, each.kind) for each in way.regressions] == [
        (4, 5, OutcomeKind.REVERTED)
    ]
    assert sorted(parsed) == [2, 3, 4, 5]


# enough merges for two processes
MERGES = 60


@pytest.fixture(scope="module")
def long_way(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long") / "engine"
    with building(folder) as builder:
        builder.commit("Begin (#1)", {"engine/__init__.py": b""})
        for number in range(2, MERGES + 2):
            code = f"class Engine{number % 7}:\n    def run(self, a{number}=1):\n        return go(a{number})\n"
            changed = {f"engine/part{number % 5}.py": code.encode(), f"tests/test_{number % 3}.py": code.encode()}
            builder.commit(f"Change {number} (#{number})", changed)
    return folder


def read_way(folder: Path, kept: KeptReadings | None) -> tuple[UpgradeRange, list[tuple[int, int]]]:
    heard: list[tuple[int, int]] = []
    with open_clone_trees(folder) as trees:
        reader = UpstreamReader(trees, None, lambda done, total: heard.append((done, total)), kept)
        return reader.read_range(trees.list_line()[0].sha), heard


def test_processes_and_what_is_kept_change_no_answer(long_way: Path, tmp_path: Path) -> None:
    with open_clone_trees(long_way) as trees:
        line = trees.list_line()
        merges = read_upstream(trees, line[1:]).merges
        alone = tuple(map(ContractExtractor(trees).extract, merges))
    assert len(alone) == MERGES
    assert any(each.changes for each in alone)
    kept = KeptReadings(tmp_path / "kept")
    cold, heard = read_way(long_way, kept)
    assert cold.contracts == alone
    assert heard[-1] == (MERGES, MERGES)
    warm, heard = read_way(long_way, kept)
    assert heard == [(MERGES, MERGES)]
    assert warm == cold
    assert read_way(long_way, None)[0] == cold


def test_what_is_kept_may_be_damaged_or_in_no_place(
    long_way: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = read_way(long_way, None)[0]
    kept = KeptReadings(tmp_path)
    read_way(long_way, kept)
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"no database" * 1_000)
    for _ in range(2):
        assert read_way(long_way, kept)[0] == expected
    assert "so that it is all read again" in caplog.text
    # it was written anew
    assert read_way(long_way, kept)[1] == [(MERGES, MERGES)]
    nowhere = tmp_path / "file"
    nowhere.write_bytes(b"")
    assert read_way(long_way, KeptReadings(nowhere))[0] == expected
    assert find_kept_readings({}) is None


def test_a_merge_whose_files_may_be_there_later_is_not_kept(tmp_path: Path) -> None:
    read, *others = (
        MergeContract(number, f"{number}" * 40, BEGIN, unread=(UnreadFile("a.py", str(problem)),))
        for number, problem in (
            (1, SourceProblem.TOO_LARGE),
            (2, SourceProblem.UNAVAILABLE),
            (3, READING_FAILED),
        )
    )
    kept = KeptReadings(tmp_path)
    # JSON has no half characters, which a literal may have
    contracts = [read, *others, MergeContract(4, "4" * 40, BEGIN, "--\ud800")]
    kept.contracts.keep({each.commit: each for each in contracts})
    assert kept.contracts.load([f"{number}" * 40 for number in range(1, 5)]) == {"1" * 40: read}
