"""What is between two commits of a clone; the messages are searched once for what they revert."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from impact.clones.clone_upgrade import CloneUpgradeReader
from impact.git.clone_trees import open_clone_trees
from impact.history.outcomes import OutcomeKind
from impact.history.revert_claims import parse_claim
from impact.history.reverts import Revert
from impact.repository import Repository
from impact.testing.checks import counting
from impact.testing.clones import building, needs_git

pytestmark = [pytest.mark.slow, needs_git]


def test_reverts_on_the_way_and_after_it_come_from_one_search(tmp_path: Path) -> None:
    code = {"engine/core.py": b"def run(a):\n    return a\n"}
    with building(tmp_path / "engine") as builder:
        builder.commit("Begin (#1)", {"engine/__init__.py": b"", **code})
        builder.commit("Drop run (#2)", {"engine/core.py": b""})
        builder.commit('Revert "Drop run" (#3)\n\nReverts octo/engine#2', code)
        end = builder.commit("Walk (#4)", {"engine/walk.py": b"def walk(): ...\n"})
        builder.commit('Revert "Walk" (#5)\n\nReverts octo/engine#4', {"engine/walk.py": None})
        end_sha = builder.sha(end)
    with open_clone_trees(tmp_path / "engine") as trees, counting(parse_claim) as counts:
        first = trees.list_line()[0].sha
        way = CloneUpgradeReader(trees, Repository("octo", "engine")).read_range(first, end_sha)
    # of what was reverted only after the end, the revert is none on the way
    assert way.reverts == (Revert(2, 3),)
    assert [(each.pull.number, each.by.number, each.kind) for each in way.regressions] == [
        (4, 5, OutcomeKind.REVERTED)
    ]
    assert counts == Counter({("parse_claim", number): 1 for number in (2, 3, 4, 5)})
