import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

import pytest
from dramatiq import Actor
from dramatiq.brokers.redis import RedisBroker
from redis import Redis

from bot.platform.dramatiq.broker import ArrivalWait, make_broker
from bot.platform.store.connection import connect_server
from bot.platform.store.embedded.server import start_embedded_url
from tests.helpers.checks import eventually

QUEUE = "jobs"
PAUSE = 200  # milliseconds


@contextmanager
def broker_of(store: Redis) -> Iterator[tuple[RedisBroker, Actor[[int], None]]]:
    """A broker with one kind of job, which nobody works on."""
    with closing(make_broker(store, lambda message, loss: None)) as broker:
        actor = Actor(
            lambda number: None, broker=broker, actor_name="work", queue_name=QUEUE, priority=0, options={}
        )
        yield broker, actor


@pytest.fixture
def wait(store: Redis) -> Iterator[ArrivalWait]:
    made = ArrivalWait(store, QUEUE)
    yield made
    made.stop()


def used_connections(store: Redis) -> int:
    pool = store.connection_pool
    return len(pool._connections) - len([each for each in pool.pool.queue if each])  # type: ignore[attr-defined]


def test_a_wait_ends_with_the_arrival_and_leaves_the_jobs_in_their_order(store: Redis, wait: ArrivalWait) -> None:
    assert wait.begin()
    assert wait.look(0.01)
    assert wait.is_begun
    store.rpush(QUEUE, "first", "second")
    began = time.monotonic()
    assert wait.look(10)
    assert (wait.is_begun, time.monotonic() - began < 0.5) == (False, True)
    assert store.lrange(QUEUE, 0, -1) == [b"first", b"second"]


@pytest.mark.slow
def test_a_wait_for_nothing_is_over_in_time_for_the_next_heartbeat(wait: ArrivalWait) -> None:
    assert wait.begin()
    assert eventually(lambda: wait.look(0.2) and not wait.is_begun, seconds=5)


def test_whoever_else_waits_hears_of_it_too(store: Redis, wait: ArrivalWait) -> None:
    other = ArrivalWait(store, QUEUE)
    assert wait.begin()
    assert other.begin()
    store.rpush(QUEUE, "job")
    for each in (wait, other):
        assert each.look(0.5)
        assert not each.is_begun


def test_what_a_wait_left_unread_is_not_the_answer_of_the_next_command(store: Redis, wait: ArrivalWait) -> None:
    assert wait.begin()
    store.rpush(QUEUE, "job")
    wait.stop()
    assert used_connections(store) == 0
    assert store.ping() is True


def test_a_connection_that_ends_ends_the_wait(store: Redis, wait: ArrivalWait) -> None:
    assert wait.begin()
    [waiting] = [each["id"] for each in store.client_list() if each["cmd"] == "blmove"]
    store.client_kill_filter(_id=waiting)
    assert not wait.look(5)
    assert not wait.is_begun
    assert wait.begin()


def test_a_consumer_gives_none_while_it_waits_and_the_job_as_soon_as_it_is_there(store: Redis) -> None:
    with broker_of(store) as (broker, actor):
        consumer = broker.consume(QUEUE, prefetch=1, timeout=PAUSE)
        assert [next(consumer), next(consumer)] == [None, None]
        timer = threading.Timer(0.02, actor.send, (1,))
        timer.start()
        began = time.monotonic()
        job = eventually(lambda: next(consumer))
        assert (job.args, time.monotonic() - began < PAUSE / 1_000) == ((1,), True)
        timer.join()
        consumer.close()
    assert used_connections(store) == 0


def test_a_consumer_with_as_many_jobs_as_it_may_have_pauses(store: Redis) -> None:
    with broker_of(store) as (broker, actor):
        consumer = broker.consume(QUEUE, prefetch=1, timeout=PAUSE)
        for number in (1, 2):
            actor.send(number)
        first = next(consumer)
        assert first is not None
        assert first.args == (1,)
        began = time.monotonic()
        assert next(consumer) is None
        assert time.monotonic() - began >= PAUSE / 1_000
        consumer.close()


def test_a_consumer_that_starts_again_gives_back_the_connection_of_the_one_before(store: Redis) -> None:
    with broker_of(store) as (broker, _):
        for _ in range(3):
            consumer = broker.consume(QUEUE, prefetch=1, timeout=PAUSE)
            assert next(consumer) is None
            assert used_connections(store) == 1
        consumer.close()


@pytest.mark.slow
def test_a_server_without_the_command_is_asked_from_time_to_time(tmp_path: Path) -> None:
    url = start_embedded_url(tmp_path / "store")
    with connect_server(url) as store:
        store.execute_command("ACL", "SETUSER", "default", "-blmove")
        with broker_of(store) as (broker, actor):
            consumer = broker.consume(QUEUE, prefetch=1, timeout=PAUSE)
            assert next(consumer) is None
            began = time.monotonic()
            assert next(consumer) is None
            assert time.monotonic() - began >= PAUSE / 1_000
            actor.send(1)
            assert eventually(lambda: next(consumer)).args == (1,)
            consumer.close()
        assert cast("dict[str, int]", store.info("clients"))["blocked_clients"] == 0
