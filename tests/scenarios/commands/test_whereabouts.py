"""Where a merge is by now, asked of a real repository over HTTP, and who watches it is told once."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from localslack.loopback import Request, Response

from bot.features.profiles.service import PinnedMerge
from bot.features.subscriptions.announcements import post_release
from bot.features.subscriptions.schedule import watch_repository
from bot.features.touches.contracts import keep_contract
from bot.jobs.queues import DramatiqJobQueue
from bot.platform.store.connection import UNPREFIXED
from bot.platform.store.due_queue import ReleasePost
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.repository import Repository
from impact.testing.clones import building, git, needs_git
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.github.store import pull as bot_pull
from tests.helpers.apps import make_app
from tests.helpers.builders import pull
from tests.helpers.git_server import GitServer
from tests.helpers.world import as_read
from tests.scenarios import Bot, both_transports, labels
from tests.scenarios.commands.test_contract import STOPPED, profile
from tests.scenarios.conftest import Bots, guard_texts
from tests.scenarios.subscriptions.regularly import direct, subscriptions, type_command

pytestmark = needs_git

IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


class Enterprise(GitServer):
    """A GitHub of one's own: its API and its repositories are at one address."""

    github: GitHubEmulator | None = None

    def handle(self, request: Request) -> Response:
        for prefix, path in (("/api/v3", ""), ("/api/graphql", "/graphql")):
            if self.github and request.path.startswith(prefix):
                return self.github.handle(replace(request, path=path + request.path.removeprefix(prefix)))
        return super().handle(request)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Enterprise]:
    with Enterprise(tmp_path_factory.mktemp("served"), token="ghp_test") as server:
        yield server


@pytest.fixture
def released(bots: Bots, transport: str, server: Enterprise, tmp_path: Path) -> Iterator[Bot]:
    settings = {"GITHUB_API_URL": f"{server.url}/api/v3", "PRDIGEST_MIRROR": str(tmp_path.parent / "mirrors")}
    bot = bots.bot(transport, "released", **settings)
    server.github = bot.world.github
    yield from guard_texts(bot)


@contextmanager
def serving(server: Enterprise, folder: Path, bot: Bot) -> Iterator[tuple[Path, str, int, str]]:
    """A repository on the server with one merge; its name, number and commit."""
    repository, number = bot.repository(), bot.unused_number()
    with building(folder / "made") as builder:
        builder.commit("Begin (#1)", {"a.py": b"a = 1\n"})
        mark = builder.commit(f"Keep the order of all requests (#{number})", {"a.py": b"a = 2\n"})
        sha = builder.sha(mark)
    path = server.root / f"{repository}.git"
    git(folder, "clone", "-q", "--bare", str(folder / "made"), str(path))
    git(path, "config", "uploadpack.allowFilter", "true")
    fields = {"title": "Keep the order of all requests", "merge_commit_sha": sha}
    bot.world.github.add(repository, bot_pull(number, merged_at=bot.noon(1), **fields))
    yield path, repository, number, sha


def check_now(bot: Bot, repository: str) -> None:
    """Check what became of merges, as the clock has it done every six hours."""
    with closing(DramatiqJobQueue(bot.store, UNPREFIXED)) as jobs:
        watch_repository.send_to(jobs, Repository.parse(repository))
    bot.settle()


@both_transports
def test_a_merge_is_found_in_tags_and_who_watches_it_is_told_of_the_next(
    released: Bot, server: Enterprise, tmp_path: Path
) -> None:
    bot, ada, channel = released, released.person(), released.channel()
    with serving(server, tmp_path, bot) as (path, repository, number, sha):
        name = f"team-{number}"
        profile(bot, repository, name, PinnedMerge(sha, sha, bot.noon(1)))
        ada.send_command("/prdigest", f"where {repository}#{number}", channel)
        (message,) = bot.list_posts(channel)
        assert "In no tag yet." in as_read(message)
        assert f"The pin of {name} ({sha[:7]}) holds it." in as_read(message)
        assert labels(message) == ["Details", "Ask about this"]

        ada.press(message, "details")
        (window,) = bot.windows(f"#{number}")
        ada.press_in(window, "watch")
        bot.settle()
        (noted,) = bot.list_posts(direct(ada))
        assert "I will tell you" in as_read(noted)
        shown = type_command(bot, ada, "watch", channel)
        assert f"{repository}#{number} Keep the order of all requests" in as_read(shown)

        git(path, *IDENTITY, "tag", "-a", "-m", "out", "v1.1.0", sha)
        mirror = next((tmp_path.parent / "mirrors").glob(f"{repository.lower()}~commits.git"))
        (mirror / "prdigest-updated").unlink()
        check_now(bot, repository)
        told = [as_read(each) for each in bot.list_posts(direct(ada))]
        assert len(told) == 2
        assert "The first release that holds it is v1.1.0" in told[1]
        shown = type_command(bot, ada, f"unwatch {repository}#{number}", channel)
        assert "Ended: 1 watched." in as_read(shown)
        check_now(bot, repository)
        assert len(bot.list_posts(direct(ada))) == 2


@both_transports
def test_a_new_release_is_posted_once_with_what_it_means_for_the_team(
    released: Bot, server: Enterprise, tmp_path: Path
) -> None:
    bot, ada, channel = released, released.person(), released.channel()
    with serving(server, tmp_path, bot) as (path, repository, number, sha):
        name, base = f"team-{number}", git(path, "rev-parse", f"{sha}^").strip()
        profile(bot, repository, name, PinnedMerge(base, base, bot.noon(3)))
        fields: Any = {"merged_at": bot.noon(1), "merge_commit": sha, "title": "Keep the order of all requests"}
        merged = pull(number, repository=Repository.parse(repository), **fields)
        app = make_app(bot.store)
        app.merge_history.record_merges([merged])
        gone = ContractChange(ContractClass.FUNCTION, ChangeKind.REMOVED, STOPPED, "def stop()", "", "core.py", 3)
        keep_contract(app, merged, MergeContract(number, sha, merged.merge_time, merged.title, (gone,)))
        type_command(bot, ada, f"subscribe {repository} at 09:00 profile:{name}", channel)
        check_now(bot, repository)
        git(path, *IDENTITY, "tag", "-a", "-m", "out", "v1.1.0", sha)
        mirror = next((tmp_path.parent / "mirrors").glob(f"{repository.lower()}~commits.git"))
        (mirror / "prdigest-updated").unlink()
        check_now(bot, repository)
        (subscription,) = subscriptions(bot, channel)
        item = ReleasePost(f"{subscription.id} v1.1.0")
        assert app.due_queue.get_time(item)
        with closing(DramatiqJobQueue(bot.store, UNPREFIXED)) as jobs:
            for _ in range(2):
                post_release.send_to(jobs, item.name)
        bot.settle()
        assert app.due_queue.get_time(item) is None
        (message,) = bot.list_posts(channel)
        assert as_read(message).startswith("v1.1.0 · ")
        hit = f"Touches {name} (1 of 1 merge)\n  • #{number} plugin/worker.py:7 "
        assert hit in as_read(message)
        shown = type_command(bot, ada, f"release v1.1.0 profile:{name}", channel)
        assert "1 merge since your pin" in as_read(shown)
        ada.press(shown, "share_digest")
        assert len(bot.list_posts(channel)) == 2
        ack = ada.send_command("/prdigest", "release v1.1.0 v2", channel).ack
        assert "is no tag" in ack.text


@pytest.mark.parametrize("words", ["where", "where 1 2", "watch nothing", "unwatch", "watch other/place#7"])
def test_a_mistake_is_told_at_once(bot: Bot, words: str) -> None:
    ack = bot.person().send_command("/prdigest", words, bot.channel()).ack
    assert ack.text
    assert "defect" not in ack.text


def test_without_a_clone_nobody_can_tell(bot: Bot) -> None:
    number, channel = bot.pull(merged_at=bot.noon(1)), bot.channel()
    bot.person().send_command("/prdigest", f"where {number}", channel)
    (message,) = bot.list_posts(channel)
    assert as_read(message).startswith(
        "I couldn't read the tags of octo/engine (the bot keeps no clone), so I can't"
    )
