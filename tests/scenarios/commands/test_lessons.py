"""A hit says how the team adapted to the same function before, and so does its task."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.features.profiles.service import ProfileEntry
from bot.platform.git.folder import MirrorFolder
from impact.clones.tree_scan import DownstreamTree
from impact.clones.upstream_reader import UpstreamReader
from impact.git.clone_trees import open_clone_trees
from impact.repository import Repository
from impact.testing.clones import building, needs_git
from tests.emulators.github.store import changed_file
from tests.helpers.apps import make_app
from tests.helpers.checks import closed_port
from tests.helpers.mirrors import fill_mirror, put_mirror
from tests.helpers.world import as_read
from tests.scenarios import Bot
from tests.scenarios.commands.test_agent_tasks import BUTTON, get_window, hit_of, text_of
from tests.scenarios.conftest import Bots, guard_texts

pytestmark = [needs_git]

CALL = b"from engine.core import run\n\nrun(1)\n"
SUBJECT = "Adapt to {} 2 <!channel> *_`<!here|x>`_*"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lessons") / "mirrors"


@pytest.fixture(params=["http", "socket"])
def mirrored(request: pytest.FixtureRequest, bots: Bots, root: Path) -> Iterator[Bot]:
    # git reaches nothing: the mirrors stay as they are
    nowhere = {"https_proxy": f"http://127.0.0.1:{closed_port()}"} if request.param == "http" else {}
    settings = {"PRDIGEST_MIRROR": str(root), "PRDIGEST_TYPE_CHECKER": "off", **nowhere}
    yield from guard_texts(bots.bot(request.param, f"lessons-{request.param}", **settings))


def test_a_hit_says_how_the_team_adapted_before(mirrored: Bot, root: Path, tmp_path: Path) -> None:
    repository, ada = mirrored.repository(), mirrored.person()
    first = {"engine/__init__.py": b"", "engine/core.py": b"def run(a, b=0):\n    return go_on_with(a, b)\n"}
    changed = {"engine/core.py": b"def run(a, b=0, *, c):\n    return go_on_with(a, b, c)\n"}
    commits = put_mirror(root, repository, [first, changed])
    files = (changed_file("engine/core.py"),)
    number = mirrored.pull(repository, merged_at=mirrored.noon(1), files=files, merge_commit_sha=commits[1])
    source, name = f"octo/plugin-{number}", f"team-{number}"
    with building(tmp_path / "team") as builder:
        builder.commit("Begin", {"plugin/a.py": CALL})
        builder.commit("Run twice", {"plugin/a.py": CALL + b"run(1)\n"})
        adapted = builder.commit(
            SUBJECT.format(repository.partition("/")[2]), {"plugin/a.py": CALL.replace(b"1)", b"1, b=2)")}
        )
        own = builder.sha(adapted)
    fill_mirror(root, source, tmp_path / "team")
    with (
        open_clone_trees(MirrorFolder(root, Repository.parse(repository)).path) as upstream,
        open_clone_trees(MirrorFolder(root, Repository.parse(source)).path) as team,
    ):
        tree = DownstreamTree(team, name, mirrored.noon(2), own, ("engine",))
        scanned = UpstreamReader(upstream).scan(tree, commits[0])
    entry = ProfileEntry(name, Repository.parse(repository), ("engine",), Repository.parse(source), own, files=1)
    make_app(mirrored.store).profiles.put(entry, scanned)
    listing, shown = hit_of(mirrored, repository, name, ada)
    assert f"You adapted to this once: {own[:7]} Adapt to part-" in as_read(shown)
    assert f"octo/plugin-{number}/commit/{own}" in str(shown)
    ada.press(shown, BUTTON, channel=listing)
    task = text_of(get_window(mirrored, ada))
    assert "## How we adapted before" in task
    assert own[:10] in task
