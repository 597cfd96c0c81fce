"""Digests with mirrors of both repositories: a type checker judges beside the rules, or a post says why not."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from localslack.state.workspace import Json
from localslack.users.person import Person

from bot.features.profiles.service import ProfileEntry
from bot.platform.git.folder import MirrorFolder
from impact.profile.models import Profile
from impact.repository import Repository
from impact.testing.clones import needs_checker, needs_git
from tests.emulators.github.store import changed_file
from tests.helpers.apps import make_app
from tests.helpers.checks import closed_port
from tests.helpers.mirrors import put_mirror
from tests.helpers.world import as_read
from tests.scenarios import Bot
from tests.scenarios.commands.test_agent_tasks import BUTTON, get_window, hit_of, text_of
from tests.scenarios.conftest import Bots, guard_texts

pytestmark = [needs_git, needs_checker]

ALONE = "the rules judged alone: "
BREAKS = "plugin/worker.py:4 breaks: Cannot unpack tuple"
# what somebody may write into a line that is shown
OURS = (
    b"from engine.core import run\n\n# %d <!channel>\n"
    b"first, second = run()  # *_`<!here|x>`_* <https://evil.example|ok>\n"
)


@dataclass
class Checked:
    """A bot with mirrors, and a merge that makes the result of a function longer, which its rules don't see."""

    bot: Bot
    root: Path
    ada: Person
    repository: str
    number: int
    profile: str

    @classmethod
    def prepare(cls, bot: Bot, root: Path, *, has_source: bool = True) -> "Checked":
        repository = bot.repository()
        before = {
            "engine/__init__.py": b"",
            "engine/core.py": b"def make():\n    return 1, 2\n\n\ndef run():\n    return make()\n",
        }
        after = {"engine/core.py": b"def make():\n    return 1, 2, 3\n\n\ndef run():\n    return make()\n"}
        commits = put_mirror(root, repository, [before, after])
        files = (changed_file("engine/core.py"),)
        number = bot.pull(repository, merged_at=bot.noon(1), files=files, merge_commit_sha=commits[1])
        source, name = Repository("octo", f"plugin-{number}"), f"team-{number}"
        commit = put_mirror(root, str(source), [{"plugin/worker.py": OURS % number}])[0]
        packages, upstream = ("engine",), Repository.parse(repository)
        entry = ProfileEntry(name, upstream, packages, source if has_source else None, commit, files=1)
        contents = {"plugin/worker.py": "1"}
        scanned = Profile(name, packages, str(source), commit, bot.noon(2), (), {}, 1, contents=contents)
        make_app(bot.store).profiles.put(entry, scanned)
        return cls(bot, root, bot.person(), repository, number, name)

    def ask(self, text: str) -> tuple[Json, str]:
        """The first message of the answer, and its whole thread as read."""
        channel = self.bot.channel()
        ack = self.ada.send_command("/prdigest", f"{text} profile:{self.profile}", channel).ack
        assert (ack.status, ack.text) == (200, ""), ack
        (lead,) = self.bot.list_posts(channel)
        replies = [each for each in self.bot.list_thread_posts(channel, lead["ts"]) if "blocks" in each]
        return lead, "\n".join(map(as_read, (lead, *replies)))

    def remove_mirrors(self) -> None:
        for name in (self.repository, f"octo/plugin-{self.number}"):
            shutil.rmtree(MirrorFolder(self.root, Repository.parse(name)).path)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mirrored") / "mirrors"


@pytest.fixture
def mirrored(bots: Bots, root: Path) -> Iterator[Bot]:
    # git reaches nothing: the mirrors stay as they are
    nowhere = f"http://127.0.0.1:{closed_port()}"
    yield from guard_texts(bots.bot("http", "mirrored", PRDIGEST_MIRROR=str(root), https_proxy=nowhere))


def test_a_digest_says_what_the_checker_alone_sees_and_all_others_know_it_from_then_on(
    mirrored: Bot, root: Path
) -> None:
    checked = Checked.prepare(mirrored, root)
    lead, text = checked.ask(f"repo:{checked.repository}")
    assert f"#{checked.number} {BREAKS}" in as_read(lead)
    assert "Ours: first, second = run()" in text
    assert "core.py:" in text
    assert text.lower().count("a type checker judged beside the rules, in 1 of your files") == 1
    # nothing of a quoted line comes alive
    assert "https://evil.example" not in [str(each.get("url")) for each in _list_nodes(lead)]
    # from here on nothing can be looked at any more
    checked.remove_mirrors()
    for words in ("touches 2d", f"since yesterday repo:{checked.repository}"):
        _, text = checked.ask(words)
        assert BREAKS in text, words
        assert ALONE not in text.lower(), words
    listing, shown = hit_of(mirrored, checked.repository, checked.profile, checked.ada)
    checked.ada.press(shown, BUTTON, channel=listing)
    task = text_of(get_window(mirrored, checked.ada))
    assert BREAKS in task.replace("\\", "")
    assert "A type checker judged beside the rules" in task


def _list_nodes(value: object) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _list_nodes(each)


def test_without_a_mirror_the_post_says_once_that_the_rules_judge_alone(mirrored: Bot, root: Path) -> None:
    checked = Checked.prepare(mirrored, root)
    checked.remove_mirrors()
    _, text = checked.ask(f"repo:{checked.repository}")
    reason = f"{ALONE}the mirror of {checked.repository} can't be used: there is no mirror yet"
    assert BREAKS not in text
    assert text.lower().count(reason) == 1
    file = Checked.prepare(mirrored, root, has_source=False)
    _, text = file.ask("touches 2d")
    assert text.lower().count(f"{ALONE}the profile is from a file, so your code is not at hand") == 1


def test_a_bot_without_mirrors_says_so(bot: Bot, root: Path) -> None:
    checked = Checked.prepare(bot, root)
    _, text = checked.ask("touches 2d")
    assert text.lower().count(f"{ALONE}this bot keeps no mirror of the repositories") == 1
