"""Faults as blocks: what is broken at the beginning of one is repaired at its end."""

import random
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import cast

from redis import Redis

from tests.crash.store.test_stalled import stop_server
from tests.faults.proxy import PlannedFault, ServiceFault, ServiceName
from tests.faults.stage import PROCESSES, Stage
from tests.helpers.checks import eventually
from tests.hostile.tables.store_faults import configure, follow
from tests.platform.store.embedded.test_server import server_of

# seconds that a process may take to end by SIGTERM, and how many commands are under way then
END_SECONDS = 20.0
LOAD = 12

Act = Callable[[Stage, random.Random], AbstractContextManager[None]]
Change = Callable[[Redis], object]


def fail_service(service: ServiceName, fault: ServiceFault, slow: float = 0.0) -> Act:
    """Let a service fail; ``slow`` is the seconds that a slow one takes for each answer."""

    @contextmanager
    def act(stage: Stage, choice: random.Random) -> Iterator[None]:
        proxy = stage.proxies[service]
        proxy.inject(PlannedFault(fault, slow, choice))
        try:
            yield
        finally:
            proxy.heal()

    return act


def end_store(how: str) -> Act:
    """End the store by ``stop``, with a goodbye, or by ``terminate``, without one; it comes back with its data."""

    @contextmanager
    def act(stage: Stage, _choice: random.Random) -> Iterator[None]:
        assert stage.server
        getattr(stage.server, how)()
        try:
            yield
        finally:
            stage.server.start()

    return act


def change_store(break_it: Change, repair_it: Change) -> Act:
    @contextmanager
    def act(stage: Stage, _choice: random.Random) -> Iterator[None]:
        break_it(stage.store)
        try:
            yield
        finally:
            repair_it(stage.store)

    return act


FILL = change_store(configure(maxmemory="1"), configure(maxmemory="0"))
FOLLOW = change_store(follow, lambda store: store.replicaof("NO", "ONE"))


def evict(policy: str) -> Act:
    """Let the store drop keys from now on: it has a little less memory than it needs."""

    def begin(store: Redis) -> None:
        used = cast("dict[str, int]", store.info("memory"))["used_memory"]
        configure(maxmemory_policy=policy, maxmemory=str(used))(store)

    return change_store(begin, configure(maxmemory="0", maxmemory_policy="noeviction"))


@contextmanager
def stall_store(stage: Stage, _choice: random.Random) -> Iterator[None]:
    """Stop the store in the middle of things: it takes what is sent and answers nothing."""
    with stop_server(server_of(stage.store)):
        yield


@contextmanager
def fill_disk(stage: Stage, _choice: random.Random) -> Iterator[None]:
    """Take all room of the small disk on which the embedded store keeps its data."""
    assert stage.state
    filler = stage.state.parent / "filler"
    _fill(filler)
    try:
        yield
    finally:
        filler.unlink()


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (65_536, 512, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue


def skew(name: str, seconds: float) -> Act:
    """Set the clock of one process wrong, or of ``all``: then those of the store and of Slack differ."""

    @contextmanager
    def act(stage: Stage, _choice: random.Random) -> Iterator[None]:
        names = PROCESSES if name == "all" else (name,)
        for each in names:
            stage.clocks.skew(each, seconds)
        try:
            yield
        finally:
            for each in names:
                stage.clocks.skew(each, 0.0)

    return act


def add_skewed_worker(seconds: float) -> Act:
    """Start another worker whose clock is wrong; it ends with the fault."""

    @contextmanager
    def act(stage: Stage, _choice: random.Random) -> Iterator[None]:
        stage.clocks.skew("second", seconds)
        second = stage.site.start("worker", **stage.clocks.setting("second"))
        try:
            yield
        finally:
            second.terminate()
            assert second.wait(timeout=END_SECONDS) == 0

    return act


@contextmanager
def terminate_under_load(stage: Stage, choice: random.Random) -> Iterator[None]:
    """End all processes by SIGTERM while many commands are under way; each must end cleanly, and starts again."""
    ada = stage.site.person(stage.web, "U0LOAD")
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(LOAD))
        asked = [
            pool.submit(
                ada.send_command, "/prsummary", f"octo/part-{choice.randrange(2)}#10{1 + number % 3} private"
            )
            for number in range(LOAD)
        ]
        for name in PROCESSES:
            stage.staff[name].send_signal(signal.SIGTERM)
        codes = {name: stage.staff[name].wait(timeout=END_SECONDS) for name in PROCESSES}
        assert set(codes.values()) == {0}, codes
        for name in PROCESSES:
            stage.start(name)
        stage.await_web()
        yield
    deliveries = [
        future.result() for future in asked if (future.result().ack.status, future.result().ack.text) == (200, "")
    ]
    eventually(lambda: all(map(stage.site.answers, deliveries)), 60.0)


def kill_process(name: str) -> Act:
    """Kill a process; it is started again at once."""

    @contextmanager
    def act(stage: Stage, _choice: random.Random) -> Iterator[None]:
        stage.kill(name)
        stage.start(name)
        yield

    return act
