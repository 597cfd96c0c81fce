"""A repository of all kinds of commits, for tests that read it and change nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from impact.testing.clones import ODD, building, git, lines


@pytest.fixture(scope="session")
def made_clones(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("clones") / "made"
    make_several(folder)
    yield folder
    # reading changed nothing
    assert git(folder, "fsck", "--no-dangling") == ""
    assert sorted(path.name for path in folder.iterdir()) == [".git"]


def make_several(folder: Path) -> None:
    """A repository of ten commits on main, of all kinds, and one beside it."""
    with building(folder) as builder:
        builder.commit(
            "Begin", {"a.py": lines(10), "old.py": lines(20), "logo.png": b"\0one", "gone.py": lines(3)}
        )
        builder.commit(
            "Change (#1)\n\nWhy.\n\nTwice.", {"a.py": lines(12), "logo.png": b"\0two", "new.py": lines(4)}
        )
        builder.commit("Move (#2)", {"gone.py": None}, moved={"old.py": "deep/new.py"})
        builder.commit("Move and change (#3)", {"b.py": lines(11), "a.py": None})
        beside = builder.commit("Beside", {"c.py": lines(2)}, branch="beside", start=4)
        builder.commit("Main goes on (#4)", {"d.py": lines(1)})
        builder.commit("Merge pull request #5 from octo/beside\n\nTell c", {"c.py": lines(2)}, merged=[beside])
        builder.commit("Nothing (#6)")
        builder.commit("Odd (#7)", {path: lines(2) for path in ODD})
        builder.commit(b"Latin \xe9 (#8)", {b"latin-\xe9.py": lines(1)})
        builder.commit("Odd go (#9)", dict.fromkeys(ODD))
