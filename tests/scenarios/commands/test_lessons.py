"""The thread of a digest says how the team adapted to the same function before, or why that was not read."""

import shutil
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
from tests.scenarios.commands.test_agent_tasks import hit_of
from tests.scenarios.conftest import Bots, guard_texts

pytestmark = [needs_git]

CALL = b"from engine.core import run\n\nrun(1)\n"
UNREAD = "How you adapted before was not read: "
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


class Team:
    """A team that a merge of yesterday touches, and which adapted once to the function that it changes."""

    def __init__(self, bot: Bot, root: Path, folder: Path) -> None:
        self.bot, self.repository = bot, bot.repository()
        first = {"engine/__init__.py": b"", "engine/core.py": b"def run(a, b=0):\n    return go_on_with(a, b)\n"}
        changed = {"engine/core.py": b"def run(a, b=0, *, c):\n    return go_on_with(a, b, c)\n"}
        commits = put_mirror(root, self.repository, [first, changed])
        files = (changed_file("engine/core.py"),)
        number = bot.pull(self.repository, merged_at=bot.noon(1), files=files, merge_commit_sha=commits[1])
        self.source, self.name = f"octo/plugin-{number}", f"team-{number}"
        subject = SUBJECT.format(self.repository.partition("/")[2])
        with building(folder / self.name) as builder:
            builder.commit("Begin", {"plugin/a.py": CALL})
            builder.commit("Run twice", {"plugin/a.py": CALL + b"run(1)\n"})
            adapted = builder.commit(subject, {"plugin/a.py": CALL.replace(b"1)", b"1, b=2)")})
            self.own = own = builder.sha(adapted)
        fill_mirror(root, self.source, folder / self.name)
        self.mirror = MirrorFolder(root, Repository.parse(self.source)).path
        with (
            open_clone_trees(MirrorFolder(root, Repository.parse(self.repository)).path) as upstream,
            open_clone_trees(self.mirror) as team,
        ):
            tree = DownstreamTree(team, self.name, bot.noon(2), own, ("engine",))
            self.scanned = UpstreamReader(upstream).scan(tree, commits[0])
        self.put(Repository.parse(self.source))

    def put(self, source: Repository | None) -> None:
        entry = ProfileEntry(self.name, Repository.parse(self.repository), ("engine",), source, self.own, files=1)
        make_app(self.bot.store).profiles.put(entry, self.scanned)

    def read_digest(self) -> tuple[str, str]:
        """What a digest says in a channel of its own, and in its thread."""
        channel = self.bot.channel()
        self.bot.person().send_command("/prdigest", f"repo:{self.repository} profile:{self.name}", channel)
        (lead,) = self.bot.list_posts(channel)
        replies = [each for each in self.bot.list_thread_posts(channel, lead["ts"]) if "blocks" in each]
        return as_read(lead), "\n".join(map(as_read, replies))


def test_a_digest_says_it_once_in_the_thread_or_why_it_was_not_read(
    mirrored: Bot, root: Path, tmp_path: Path
) -> None:
    team, away = Team(mirrored, root, tmp_path), Team(mirrored, root, tmp_path)
    lead, thread = team.read_digest()
    assert ("adapted" in lead, thread.count("You adapted to this once: ")) == (False, 1)
    assert f"{team.own[:7]} Adapt to part-" in thread
    # from here on git fails: what was found is kept, and what was not is said
    for each in (team, away):
        shutil.rmtree(each.mirror / "objects")
    assert team.read_digest()[1].count("You adapted to this once: ") == 1
    lead, thread = away.read_digest()
    assert ("adapted" in lead, thread.count(f"{UNREAD}a mirror can't be read")) == (False, 1)
    _, listed = hit_of(mirrored, away.repository, away.name, mirrored.person())
    assert as_read(listed).count(UNREAD) == 1
    # of a profile from a file, nobody expects it
    away.put(None)
    lead, thread = away.read_digest()
    assert (f"Touches {away.name}" in lead, "adapted" in lead + thread) == (True, False)
