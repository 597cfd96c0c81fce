"""A maintainer's week, from Monday to Monday: real clones, processes, a store, and a clock that is moved.

It walks through what a team of a downstream does with the bot. After each step stands what people see.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from localslack.socket_mode import SocketTransport
from localslack.state.workspace import Json
from localslack.users.person import Person
from localslack.users.transport import HttpTransport
from redis import Redis

from bot.app import App, open_app
from bot.clock import Clock
from bot.features.profiles.service import ProfileEntry
from bot.features.touches.tasks import add_profile
from bot.jobs.queues import DramatiqJobQueue
from bot.platform import deadlines
from bot.platform.store.connection import UNPREFIXED
from bot.settings import load_settings
from impact.repository import Repository
from impact.testing.clones import ENVIRONMENT, git, needs_git
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.github.store import changed_file, pull
from tests.emulators.github.trees import ClonedTree, TreeCommit
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.checks import closed_port, eventually, waiting_jobs
from tests.helpers.git_server import Enterprise
from tests.helpers.processes.command import Process, started
from tests.helpers.world import CHANNEL, World, as_read, world_of
from tests.scenarios import SECRET, both_transports, status_of

pytestmark = needs_git

UPSTREAM, TEAM, NAME, ADA = Repository("octo", "engine"), Repository("octo", "plugin"), "satellite", "U0ADA"
DIRECT = "D0ADA"
# a killed worker counts as dead after ten seconds
PATIENCE = 90.0


def at(day: int, hour: int = 12, minute: int = 0) -> datetime:
    """An instant of the week, whose Monday is day 0."""
    return datetime(2026, 3, 2, tzinfo=UTC) + timedelta(days=day, hours=hour, minutes=minute)


# --- the two repositories

CORE = """\
def run(a, b=0):
    return go_on_with(a, b)


def load(path):
    text = read_everything(path)
    return parse_everything(text)


def flush():
    return 1


def stop():
    return 2
"""
STOPLESS = CORE.partition("\n\ndef stop")[0] + "\n"
TITLE = "Ask run for a limit"
# what the team adds, and upstream later with one line more
GUARD = "    wait_for_everything(path)\n    check_everything(path)\n"
LIMITED = STOPLESS.replace("run(a, b=0)", "run(a, b=0, *, limit)").replace("(a, b)", "(a, b, limit)")
GUARDED = LIMITED.replace("load(path):\n", f"load(path):\n    count_everything(path)\n{GUARD}")
FLUSHLESS = GUARDED.partition("\n\ndef flush")[0] + "\n"
OURS = f"""\
import engine.core


def load(path):
{GUARD}    text = read_everything(path)
    return parse_everything(text)


engine.core.load = load
"""
WORKER = """\
from engine.core import flush, run, stop


def work(item):
    flush()
    run(item, 1)
    stop()
"""


@dataclass
class Place:
    """A repository: a clone in which people work, the bare one at GitHub, and what its API says."""

    repository: Repository
    clone: Path
    bare: Path
    github: GitHubEmulator
    commits: list[TreeCommit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clone.mkdir(parents=True)
        git(self.clone, "init", "-q", "-b", "main")
        git(self.clone.parent, "init", "-q", "--bare", "-b", "main", str(self.bare))
        git(self.bare, "config", "uploadpack.allowFilter", "true")

    def land(
        self, number: int, title: str, files: Mapping[str, str | None], when: datetime, body: str = ""
    ) -> str:
        """Merge a pull request; gives its commit."""
        for path, text in files.items():
            file = self.clone / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text) if text is not None else file.unlink()
        git(self.clone, "add", "-A")
        dates = {name: when.isoformat() for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")}
        self._commit(dates, "commit", "-q", "-m", f"{title} (#{number})", "-m", body)
        git(self.clone, "push", "-q", str(self.bare), "main")
        oid = git(self.clone, "rev-parse", "HEAD")
        diffs = {path: git(self.clone, "show", "--format=", "HEAD", "--", path) for path in files}
        hunks = {path: "@@" + diff.partition("\n@@")[2] for path, diff in diffs.items()}
        changed = tuple(changed_file(path, hunk) for path, hunk in hunks.items())
        fields: dict[str, Any] = {"merge_commit_sha": oid, "files": changed, "title": title, "body": body}
        self.github.add(str(self.repository), pull(number, merged_at=when, **fields))
        parent = self.commits[-1] if self.commits else None
        self.commits.append(TreeCommit(oid, ClonedTree(self.clone, oid), parent))
        self.github.add_commit(str(self.repository), self.commits[-1])
        return oid

    def tag(self, name: str, when: datetime) -> None:
        self._commit({"GIT_COMMITTER_DATE": when.isoformat()}, "tag", "-a", "-m", "out", name)
        git(self.clone, "push", "-q", str(self.bare), name)

    def _commit(self, dates: Mapping[str, str], *arguments: str) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in dates.items():
                patch.setitem(ENVIRONMENT, name, value)
            git(self.clone, "-c", "user.name=Ben", "-c", "user.email=ben@example.org", *arguments)


# --- the bot and its time


@dataclass
class Moved:
    """The time of all of them: the real one and so many seconds as a file says."""

    file: Path

    def set(self, instant: datetime) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(str((instant - datetime.now(UTC)).total_seconds()))
        new.replace(self.file)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=float(self.file.read_text()))


@dataclass
class Walk:
    world: World
    store: Redis
    app: App
    clock: Clock
    now: Moved
    ada: Person
    upstream: Place
    team: Place
    start: Callable[[str], Process]
    worker: Process
    seen: set[str] = field(default_factory=set)

    def go(self, day: int, hour: int, minute: int = 0) -> None:
        """Move on to an hour of the week, let the clock tick there, and wait until nothing is left to do."""
        self.now.set(at(day, hour, minute))
        # what a job plans for now is found a minute later
        for _ in range(2):
            self.clock.tick()
            self.settle()

    def settle(self) -> None:
        eventually(lambda: not waiting_jobs(self.store), PATIENCE)

    def posts(self, channel: str = CHANNEL) -> list[Json]:
        self.settle()
        return [each for each in self.world.slack.list_messages(channel) if "bot_id" in each]

    def news(self, channel: str = CHANNEL) -> list[str]:
        """What the bot posted to a channel since the last look; nothing of it twice."""
        known, posts = set(self.seen), self.posts(channel)
        self.seen.update(each["ts"] for each in posts)
        return [as_read(each) for each in posts if each["ts"] not in known]

    def events(self) -> list[str]:
        """What Ada was written since the last look: of a watch its lines, of any other message the first one."""
        told = self.news(DIRECT)
        watched = [text.split("  • ")[1:] if text.startswith("You watch #3") else [text] for text in told]
        return [line.partition("\n")[0] for lines in watched for line in lines]

    def read(self, message: Json) -> str:
        """A message of the channel as it stands now, with its thread."""
        slack = self.world.slack
        replies = slack.list_replies(CHANNEL, message["ts"])
        shown = [slack.get_message(CHANNEL, message["ts"]), *replies]
        return "\n".join(as_read(each) for each in shown if "blocks" in each)

    def type(self, text: str) -> str:
        """What Ada gets for a command: in the channel, or alone."""
        slack = self.world.slack
        before = (len(slack.ephemerals), len(self.posts()))
        ack = self.ada.send_command("/prdigest", text, CHANNEL).ack
        assert (ack.status, ack.text) == (200, "")
        self.settle()
        shown = [*slack.ephemerals[before[0] :], *self.posts()[before[1] :]]
        self.seen.update(each["ts"] for each in shown)
        return "\n".join(map(as_read, shown))

    def kill_worker_in(self, method: str, begin: Callable[[], None]) -> None:
        """End the worker with SIGKILL after a call to Slack took effect and before it hears so."""
        held, go_on = threading.Event(), threading.Event()

        def hold(called: str, _: Json) -> None:
            if called == method and not held.is_set():
                held.set()
                go_on.wait(PATIENCE)

        self.world.slack.after = hold
        begin()
        assert held.wait(PATIENCE)
        self.worker.kill()
        self.worker.wait(timeout=10)
        go_on.set()
        self.world.slack.after = None
        self.worker = self.start("worker")
        self.settle()


@pytest.fixture
def walk(transport: str, store: Redis, store_url: str, tmp_path: Path) -> Iterator[Walk]:
    now = Moved(tmp_path / "moved")
    now.set(at(0, 8))
    with ExitStack() as stack:
        github = stack.enter_context(GitHubEmulator("ghp_test"))
        claude = stack.enter_context(ClaudeEmulator("sk-ant-test"))
        slack = stack.enter_context(SlackEmulator("xoxb-test", now=lambda: now().timestamp()))
        server = stack.enter_context(Enterprise(tmp_path / "served", token=github.token))
        server.github = github
        there = world_of(github, claude, slack, store_url)
        slack.add_channel(DIRECT, "ada")
        entrance = {"SLACK_APP_TOKEN": "xapp-test"} if transport == "socket" else {"SLACK_SIGNING_SECRET": SECRET}
        settings = {
            **there.settings,
            **entrance,
            "GITHUB_API_URL": f"{server.url}/api/v3",
            "PRDIGEST_REPO": str(UPSTREAM),
            "PRDIGEST_MIRROR": str(tmp_path / "mirrors"),
            "PRDIGEST_DOWNSTREAMS": "off",
            "PRDIGEST_TIMEZONE": "UTC",
            "PRDIGEST_USER_LIMIT": "1000",
            "PRDIGEST_METRICS_ADDRESS": "0",
            "PORT": str(closed_port()),
            "MOVED_CLOCK": str(now.file),
        }
        log = tmp_path / "log"
        processes = []

        def start(name: str) -> Process:
            with log.open("ab") as file:
                files = (0, file.fileno(), file.fileno())
                module = "tests.helpers.processes.quick_posts"
                process = started(name, settings=settings, folder=tmp_path, module=module, files=files)
            processes.append(process)
            return process

        upstream, team = (
            Place(each, tmp_path / each.name, tmp_path / "served" / f"{each}.git", github)
            for each in (UPSTREAM, TEAM)
        )
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in settings.items():
            patch.setenv(name, value)
        app = stack.enter_context(open_app(load_settings(), now, deadlines.sleep))
        jobs = stack.enter_context(closing(DramatiqJobQueue(app.store, UNPREFIXED)))
        http = HttpTransport(f"http://127.0.0.1:{settings['PORT']}/slack/events", SECRET)
        ada = Person(slack, SocketTransport(slack.socket) if transport == "socket" else http, user=ADA)
        start("web")
        worker = start("worker")
        try:
            eventually(lambda: status_of(f"http://127.0.0.1:{settings['PORT']}/readyz") == 200)
            yield Walk(there, store, app, Clock(app, jobs), now, ada, upstream, team, start, worker)
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait(timeout=40)
        assert "a defect" not in log.read_text()
        assert "Traceback" not in log.read_text()


# --- the week

DAILY, WEEKLY = "subscribe at 09:00 tz UTC weekdays", "subscribe me weekly monday 09:05 tz UTC only:pending"
LIMIT = "plugin/worker.py:6 must pass limit"


@both_transports
def test_a_week(walk: Walk) -> None:
    upstream, team = walk.upstream, walk.team
    base = upstream.land(1, "Begin", {"engine/__init__.py": "", "engine/core.py": CORE}, at(-20))
    pin = f"engine @ git+https://github.com/octo/engine@{base}\n"
    first = {"plugin/patches.py": OURS, "plugin/worker.py": WORKER.replace(", 1", ""), "requirements.txt": pin}
    team.land(1, "Begin", first, at(-15))
    lesson = team.land(2, "Adapt to engine 2", {"plugin/worker.py": WORKER}, at(-12))
    upstream.land(2, "Remove stop", {"engine/core.py": STOPLESS}, at(-1))
    walk.world.github.add(str(UPSTREAM), pull(3, state="OPEN", title=TITLE))
    entry = add_profile(walk.app, ProfileEntry.build(NAME, UPSTREAM, (), TEAM))
    assert (entry.problem, entry.pin and entry.pin.commit) == ("", base)
    for command in (DAILY, WEEKLY):
        assert walk.type(f"{command} profile:{NAME}").startswith("Subscribed: octo/engine, ")

    # Monday: what touches, what waits, and a watch of what is open
    walk.go(0, 9)
    (monday,) = walk.posts()
    (told,) = walk.news()
    assert f"Touches {NAME} (1 of 1 merge)\n  • #2 plugin/worker.py:1 breaks: core.stop is gone" in told
    assert f"1 pending since your pin ({base[:7]}, 19 days), the oldest #2, 1 of them new." in told
    walk.go(0, 9, 5)
    (told,) = walk.news(DIRECT)
    assert "the oldest #2, 1 of them new." in told
    assert walk.type("where 3").startswith("#3 Ask run for a limit is not merged yet.")
    walk.ada.press(walk.posts()[-1], "details")
    walk.settle()
    window = walk.world.slack.get_modal(ADA)
    assert window
    walk.ada.press_in(window, "watch")
    (told,) = walk.news(DIRECT)
    assert "I will tell you when it is merged, reverted or repaired, first in a release, and in your pin, " in told
    walk.ada.close(window)
    assert "I will tell you" in walk.type("watch 2")
    assert walk.ada.send_command("/prdigest", "unwatch", CHANNEL).ack.text.startswith("Which one?")
    assert walk.type("unwatch 2") == "You no longer watch 1 pull request."

    # Tuesday: it is merged, and breaks what the team adapted to before
    upstream.land(3, TITLE, {"engine/core.py": LIMITED}, at(0, 15))
    walk.go(0, 21)
    assert walk.events() == [f"It was merged on 2026-03-02 as {upstream.commits[-1].oid[:10]}."]
    # the team's code is looked at half an hour before each digest
    walk.go(1, 8, 30)
    walk.now.set(at(1, 9))
    walk.kill_worker_in("chat.postMessage", walk.clock.tick)
    tuesday = walk.posts()[-1]
    (told,) = walk.news()
    assert f"• #3 {LIMIT} (core.py:1) (+1 place).\n" in told
    assert "2 pending since your pin" in told
    adapted_once = f"You adapted to this once: {lesson[:7]} Adapt to engine 2 (#2)."
    assert ("adapted" in told, walk.read(tuesday).count(adapted_once)) == (False, 1)
    assert adapted_once in walk.type("pending")

    # Wednesday: it is reverted and lands again
    upstream.land(4, f'Revert "{TITLE}"', {"engine/core.py": STOPLESS}, at(1, 14), "Reverts octo/engine#3")
    walk.go(1, 21)
    assert walk.events() == ["It was reverted after 23.0 h by #4."]
    assert walk.read(tuesday).count("(+1 place). — reverted after 23.0 h by #4\n") == 1
    walk.go(2, 8, 30)
    walk.go(2, 9)
    (told,) = walk.news()
    assert f"Nothing touches {NAME} (1 merge, " in told
    assert "1 pending since your pin" in told
    again = f'Revert "Revert "{TITLE}""'
    upstream.land(5, again, {"engine/core.py": LIMITED}, at(2, 10), "Reverts octo/engine#4")
    walk.go(2, 17)
    assert walk.events() == ["It is back: #4 was itself reverted."]
    assert walk.read(tuesday).count("(+1 place). — reverted after 23.0 h by #4, which was itself reverted\n") == 1

    # Thursday: upstream does what the team's patch does, and the team moves on
    end = upstream.land(6, "Check what is loaded", {"engine/core.py": GUARDED}, at(2, 18))
    walk.go(3, 8, 30)
    walk.go(3, 9)
    (told,) = walk.news()
    assert f"• #5 {LIMIT}" in told
    # what has landed again waits once
    assert "2 pending since your pin" in told
    assert "May go: plugin/patches.py:11; /prdigest pending says why." in told
    pending = walk.type("pending private")
    assert pending.count(LIMIT) == 1
    why = "plugin/patches.py:11 replaces engine.core.load: upstream's function has what it adds"
    assert f"May go\n  • {why}" in pending
    plan = walk.type("upgrade")
    assert "line 1 breaks: core.stop is gone (#2) (+1 place).\n  • line 6 must pass limit (#5)." in plan
    assert why in plan
    (file,) = [each["content"].decode() for each in walk.world.slack.files if "Checklist" in each["title"]]
    assert "-    count_everything(path)\n" in file.partition("## May go")[2]
    adapted = WORKER.replace(", stop", "").replace("    stop()\n", "").replace("item, 1", "item, 1, limit=3")
    moved = {"plugin/patches.py": None, "plugin/worker.py": adapted, "requirements.txt": pin.replace(base, end)}
    work = team.land(3, "Move to engine 6", moved, at(3, 19))
    upstream.land(7, "Remove flush", {"engine/core.py": FLUSHLESS}, at(3, 20))

    # Friday: nothing of that waits any more; a release has what was waited for
    walk.go(4, 8, 30)
    walk.go(4, 9)
    (told,) = walk.news()
    assert f"1 pending since your pin ({end[:7]}, 1 day), the oldest #7.\n" in told
    assert "May go" not in told
    for message, number in ((monday, 2), (tuesday, 3)):
        assert re.search(rf"• #{number} plugin/worker.py.* — adapted in {work[:10]}", walk.read(message))
    assert "Ours: from engine.core import flush, run, also at plugin/worker.py:5." in walk.read(walk.posts()[-1])
    assert "• #4 (reverted after 20.0 h by #5) plugin/worker.py:6 breaks" in walk.type("touches 7d")
    upstream.tag("v1.1.0", at(4, 10))
    walk.now.set(at(4, 16))
    walk.clock.tick()
    walk.settle()
    walk.kill_worker_in("chat.postMessage", walk.clock.tick)
    walk.go(4, 17)
    (told,) = walk.news()
    assert told.startswith("v1.1.0 · engine · for satellite\n")
    assert f"1 merge since your pin ({end[:7]}, 1 day earlier): 1 certain break.\n" in told
    assert f"Touches {NAME} (1 of 1 merge)\n  • #7 plugin/worker.py:1 breaks: core.flush is gone" in told
    assert walk.events() == [
        "The first release that holds it is v1.1.0 of 2026-03-06.",
        f"The pin of {NAME} ({end[:7]}) holds it.",
        "v1.1.0 · engine · for satellite",
    ]
    assert walk.type("release v1.1.0").startswith("v1.1.0 · engine · for satellite\n")
    assert "• First in v1.1.0 of 2026-03-06.\n" in walk.type("where 3")

    # Monday: the week in one message
    walk.go(7, 9)
    walk.go(7, 9, 5)
    (told,) = walk.news()
    assert told.startswith("engine · 6 \N{EN DASH} 8 March 2026 · nothing merged\n")
    (told,) = walk.news(DIRECT)
    assert told.startswith("engine · 2 \N{EN DASH} 8 March 2026 · 1 of 5 merged\n")
    for sentence in (
        f"1 pending since your pin ({end[:7]}, 4 days), the oldest #7, 1 of them new.",
        "New tags: v1.1.0. /prdigest release v1.1.0 says what that means for you.",
        "• #3 Ask run for a limit: merged, reverted, and that undone, in a release, in a pin\n",
        "• Thu 5 Mar · 1 of 1 merged: ",
    ):
        assert sentence in told

    # a month later nobody reverts it any more
    assert "#3 Ask run for a limit" in walk.type("watch")
    assert walk.type("unsubscribe all").startswith("Unsubscribed: ")
    walk.ada.send_message("unsubscribe all", DIRECT)
    walk.news()
    walk.news(DIRECT)
    walk.go(37, 9)
    assert walk.type("watch") == "You watch nothing: write /prdigest watch and a number."
    assert (walk.news(), walk.news(DIRECT)) == ([], [])
