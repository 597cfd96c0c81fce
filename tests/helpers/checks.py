"""Small checks and waits that tests of several rooms share."""

import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import cycle
from typing import Any

from redis import Redis

from bot.platform.jobs import QueueName


@cache
def _list_ports(process: int) -> Iterator[int]:
    """Ports below those that the system gives to connections, a part of them for each process of the tests.

    What is closed now would otherwise be taken before a test uses it.
    """
    first = 10_000 + process % 200 * 100
    return cycle(range(first, first + 100))


def closed_port() -> int:
    """A port on which nobody listens."""
    for port in _list_ports(os.getpid()):
        with socket.socket() as candidate, suppress(OSError):
            candidate.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is left")


def is_readable(file: int, timeout: float | None) -> bool:
    """Whether a file can be read, or has ended, within ``timeout`` seconds, or at some time if that is None."""
    # not select.select: a process of the tests may have more files open than that can name
    poller = select.poll()
    poller.register(file, select.POLLIN)
    return bool(poller.poll(None if timeout is None else timeout * 1_000))


def measure_seconds(work: Callable[[], object]) -> float:
    """Return the seconds of the processor that this process needs for work."""
    began = time.process_time()
    work()
    return time.process_time() - began


def waiting_jobs(store: Redis) -> int:
    """How many jobs are left, in all queues at the same moment: they move from one to the other."""
    with store.pipeline() as together:
        for queue in (f"{lane}{kind}" for lane in QueueName for kind in ("", ".DQ")):
            together.hlen(f"dramatiq:{queue}.msgs")
        return sum(together.execute())


def is_one_sentence(message: str) -> bool:
    return message.endswith(".") and ". " not in message and "\n" not in message


def eventually(probe: Callable[[], Any], seconds: float = 30.0) -> Any:
    """What ``probe`` gives as soon as it gives anything; a failure where it does not in time."""
    # the longer nothing came, the less often it is asked: the answer comes at most a tenth of the wait late
    began = time.monotonic()
    while (waited := time.monotonic() - began) < seconds:
        value = probe()
        if value:
            return value
        time.sleep(min(max(waited / 10, 0.02), 0.2))
    raise AssertionError(f"nothing came within {seconds} s")
