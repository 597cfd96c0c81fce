import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict

import pytest
from dramatiq import Actor, Broker, Message, MessageProxy, Worker
from dramatiq.middleware import Middleware
from redis import Redis

from bot.errors import GitHubUnavailable, RateLimited
from bot.jobs.queues import JobObserver, name_request
from bot.platform import deadlines
from bot.platform.correlation import get_request_id, identify_request
from bot.platform.deadlines import ProcessShutdown
from bot.platform.dramatiq.broker import make_broker, wrap_job
from bot.platform.metrics import Instruments
from bot.platform.store.connection import UNPREFIXED
from tests.helpers.checks import eventually
from tests.helpers.doubles import slack_request
from tests.helpers.processes.jobs import working

pytestmark = pytest.mark.slow

ASKER = slack_request("command:1.2.3")
OF_ASKER = {"version": 2, "asker": asdict(ASKER)}


class Bench:
    def __init__(self, store: Redis, work: Callable[[], None]) -> None:
        self.instruments = Instruments()
        self.lost: list[str] = []
        self.broker = make_broker(store, self._note_loss, UNPREFIXED, JobObserver(self.instruments))

        def job(*_: object) -> None:
            work()

        self.actor: Actor[..., None] = Actor(
            wrap_job(job, lambda: deadlines.bound_work(10.0)),
            broker=self.broker,
            actor_name="job",
            queue_name="prdigest",
            priority=0,
            options={"max_retries": 1, "min_backoff": 1, "max_backoff": 1},
        )

    def _note_loss(self, *_: object) -> None:
        self.lost.append(get_request_id())

    def count(self, result: str) -> float:
        labels = {"job_type": "job", "result": result}
        return self.instruments.registry.get_sample_value("prdigest_jobs_total", labels) or 0.0


@contextmanager
def bench(store: Redis, work: Callable[[], None], threads: int = 1) -> Iterator[Bench]:
    made = Bench(store, work)
    with closing(made.broker), working([Worker(made.broker, worker_threads=threads, worker_timeout=100)]):
        yield made


def fail_first(error: BaseException, seen: list[str]) -> Callable[[], None]:
    """Work that fails the first time, and notes the id of each attempt."""

    def work() -> None:
        seen.append(get_request_id())
        if len(seen) == 1:
            raise error

    return work


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (GitHubUnavailable("away"), "retried"),
        (RateLimited("later", 0.01), "postponed"),
        (ProcessShutdown(), "interrupted"),
        (KeyError("a defect"), "retried"),
    ],
    ids=["away", "limit", "end", "defect"],
)
def test_each_attempt_is_counted_by_its_result_and_keeps_its_id(
    store: Redis, error: BaseException, result: str
) -> None:
    seen: list[str] = []
    with bench(store, fail_first(error, seen)) as job_bench:
        with identify_request("0b134a"):
            job_bench.actor.send()
        eventually(lambda: job_bench.count("done"))
        assert (job_bench.count(result), job_bench.count("lost")) == (1, 0)
        running = job_bench.instruments.registry.get_sample_value("prdigest_jobs_running", {"queue": "prdigest"})
        assert running == 0
    assert seen == ["0b134a", "0b134a"]


def test_a_job_that_is_given_up_is_lost_with_its_id(store: Redis) -> None:
    def fail() -> None:
        raise GitHubUnavailable("away")

    with bench(store, fail) as job_bench:
        assert (
            job_bench.instruments.registry.get_sample_value(
                "prdigest_jobs_total", {"job_type": "job", "result": "lost"}
            )
            == 0
        )
        with identify_request("0b134a"):
            job_bench.actor.send()
        eventually(lambda: job_bench.count("lost"))
        assert job_bench.lost == ["0b134a"]


def test_a_job_that_begins_elsewhere_before_its_attempt_has_ended_keeps_its_id(
    store: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []
    begun = threading.Event()

    class SlowEnd(Middleware):
        """Holds the thread of the first attempt until the second one has begun."""

        def after_process_message(self, broker: Broker, message: MessageProxy, **_: object) -> None:
            assert begun.wait(20)

    def work() -> None:
        seen.append(get_request_id())
        if len(seen) == 1:
            raise GitHubUnavailable("away")
        begun.set()

    with bench(store, work, threads=2) as job_bench:
        # it hears of the end after the retries and before the observer
        job_bench.broker.add_middleware(SlowEnd(), after=JobObserver)
        with identify_request("0b134a"):
            job_bench.actor.send()
        eventually(lambda: job_bench.count("done") and job_bench.count("retried"))
    assert seen == ["0b134a", "0b134a"]
    assert not [record for record in caplog.records if record.levelno > logging.WARNING]


def test_a_job_that_a_job_enqueues_has_the_same_id(store: Redis, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    seen: list[str] = []
    benches: list[Bench] = []

    def work() -> None:
        seen.append(get_request_id())
        if len(seen) == 1:
            benches[0].actor.send()

    with bench(store, work) as made:
        benches.append(made)
        with identify_request("0b134a"):
            made.actor.send()
        eventually(lambda: made.count("done") == 2)
    assert seen == ["0b134a", "0b134a"]


@pytest.mark.parametrize(
    ("arguments", "options", "named"),
    [
        ((OF_ASKER,), {}, ASKER.reference),
        ((OF_ASKER,), {"request": "0b134a"}, "0b134a"),
        ((OF_ASKER,), {"request": 7}, ASKER.reference),
        (("no request",), {}, "123456"),
    ],
    ids=["asker", "option", "odd option", "nobody"],
)
def test_a_message_that_names_no_request_is_named_by_its_asker(
    arguments: tuple[object, ...], options: dict[str, object], named: str
) -> None:
    message: Message[None] = Message("prdigest", "job", arguments, {}, options, message_id="123456-7890")
    assert name_request(message) == named
