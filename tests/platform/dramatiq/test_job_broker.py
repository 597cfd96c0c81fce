from collections.abc import Iterator
from contextlib import closing
from time import sleep
from typing import Any, cast

import pytest
from dramatiq import Message, Worker, actor
from dramatiq.brokers.redis import RedisBroker
from redis import Redis

from bot.platform.dramatiq.broker import make_broker, stop_workers
from tests.helpers.checks import eventually


@pytest.fixture
def broker(store: Redis) -> Iterator[RedisBroker]:
    with closing(make_broker(store, lambda message, loss: None)) as made:
        made.declare_queue("jobs")
        yield made


def test_a_job_leaves_its_queue_though_another_consumer_starts_again_meanwhile(
    broker: RedisBroker, store: Redis
) -> None:
    """Else it would run again once the id under which it was taken counts as dead."""
    consumer = broker.consume("jobs")
    broker.enqueue(Message("jobs", "work", (), {}, {}))
    message = next(consumer)
    assert message is not None
    for _ in range(2):
        next(broker.consume("jobs.DQ"))
    consumer.ack(message)
    assert not store.exists("dramatiq:jobs.msgs")


def test_what_a_consumer_had_is_not_acknowledged_by_the_one_that_replaces_it(
    broker: RedisBroker, store: Redis
) -> None:
    """It stays listed under the id of the first, which counts as dead: that gives it to a worker again."""
    broker.enqueue(Message("jobs", "work", (), {}, {}))
    message = next(broker.consume("jobs"))
    assert message is not None
    broker.consume("jobs").ack(message)
    assert store.hlen("dramatiq:jobs.msgs") == 1


def test_a_job_whose_fetch_was_not_answered_is_taken_by_the_next_fetch(
    broker: RedisBroker, store: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    """It is listed under the id of a consumer that lives: nobody else would ever take it over."""
    consumer = cast("Any", broker.consume("jobs", prefetch=2, timeout=1))
    broker.enqueue(Message("jobs", "work", (), {}, {}))
    running = next(consumer)
    broker.enqueue(Message("jobs", "work", (), {}, {}))
    # what the first try of a client leaves that hears nothing and asks again
    assert len(consumer.broker.do_fetch("jobs", 1)) == 1
    lost = eventually(lambda: next(consumer))
    assert "jobs whose fetch was not answered go back to their queue: 1" in caplog.text
    for message in (running, lost):
        consumer.ack(message)
    assert next(consumer) is None
    assert not store.keys("dramatiq:jobs*")


def test_a_job_that_is_acknowledged_while_the_store_answers_is_not_lost(
    broker: RedisBroker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = cast("Any", broker.consume("jobs", prefetch=2, timeout=1))
    broker.enqueue(Message("jobs", "work", (), {}, {}))
    message = next(consumer)
    list_jobs = consumer.broker.client.smembers

    def acknowledge(key: str) -> set[bytes]:
        listed: set[bytes] = list_jobs(key)
        consumer.ack(message)
        return listed

    monkeypatch.setattr(consumer.broker.client, "smembers", acknowledge)
    assert next(consumer) is None
    assert caplog.text == ""


def test_what_was_fetched_with_the_last_job_goes_back_when_the_consumer_ends(
    broker: RedisBroker, store: Redis
) -> None:
    """Else it would wait until the id of the consumer counts as dead."""
    for number in (1, 2, 3):
        broker.enqueue(Message("jobs", "work", (number,), {}, {}))
    consumer = broker.consume("jobs", prefetch=3)
    message = next(consumer)
    assert message is not None
    consumer.close()
    assert store.llen("dramatiq:jobs") == 2
    consumer.ack(message)
    assert not store.keys("dramatiq:__acks__*")


def test_a_consumer_that_may_take_no_more_jobs_still_shows_that_it_is_alive(
    broker: RedisBroker, store: Redis
) -> None:
    """A job may run for minutes; without a heartbeat, another worker would run it too after ten seconds."""
    consumer = broker.consume("jobs", prefetch=1, timeout=1)
    broker.enqueue(Message("jobs", "work", (), {}, {}))
    assert next(consumer) is not None
    (taker,) = (key.decode().rpartition(".")[0] for key in store.scan_iter("dramatiq:__acks__.*.jobs"))
    name = taker.rpartition("__acks__.")[2]
    before = store.zscore("dramatiq:__heartbeats__", name)
    assert before is not None
    sleep(0.01)
    assert next(consumer) is None
    after = store.zscore("dramatiq:__heartbeats__", name)
    assert after is not None
    assert after > before


def test_a_worker_waits_for_each_of_its_jobs_as_long_as_they_have(broker: RedisBroker, store: Redis) -> None:
    """Dramatiq's own stop would not wait for the last one: it takes off the same second for each thread before."""
    started = list[float]()

    @actor(broker=broker, queue_name="jobs")
    def work(seconds: float) -> None:
        started.append(seconds)
        sleep(seconds)

    worker = Worker(broker, worker_threads=4, worker_timeout=100)
    worker.start()
    for seconds in (1.0, 1.0, 1.0, 1.6):
        work.send(seconds)
    eventually(lambda: len(started) == 4)
    stop_workers([worker], 2.0)
    assert not [thread for thread in worker.workers if thread.is_alive()]
    assert not store.keys("dramatiq:jobs*")
