"""Leases on Redis: one holder at a time across threads, processes and machines. A dead holder's lease expires."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from redis import Redis
from redis.exceptions import LockNotOwnedError, RedisError
from redis.lock import Lock

from bot.platform import deadlines
from bot.platform.store.connection import Keyspace
from bot.platform.store.keys import LEASE

log = logging.getLogger(__name__)

# seconds
LEASE_SECONDS = LEASE.lifetime.total_seconds()
_POLL_SECONDS = 0.1
# seconds between two checks whether the process ends
_SHUTDOWN_CHECK_SECONDS = 1.0


class _Lease(Lock):
    """A lock that knows itself as the holder when the answer was lost, and the client hears that it is held."""

    def do_acquire(self, token: str) -> bool:
        # encoded by ``acquire``, whatever its annotation says
        return super().do_acquire(token) or self.redis.get(self.name) == token


@contextmanager
def hold_lease(client: Redis, keys: Keyspace, name: str, *, timeout: float | None = None) -> Iterator[bool]:
    """Hold the lease ``name`` while the block runs; yield whether it is held.

    The block begins once it is free, or without it after ``timeout`` seconds (None: no timeout), or at the
    deadline of the work (:mod:`bot.platform.deadlines`). Raises ProcessShutdown.
    """
    # the renewing thread needs the token too: it belongs to this lease, not to a thread
    key = keys.add_prefix(LEASE.build_key(name))
    lock = _Lease(client, key, timeout=LEASE_SECONDS, sleep=_POLL_SECONDS, thread_local=False)
    if not _acquire_lock(lock, min(math.inf if timeout is None else timeout, deadlines.get_seconds_left())):
        yield False
        return
    stopped = threading.Event()
    renewer = threading.Thread(target=_renew_until_done, args=(lock, stopped), daemon=True, name="lease")
    renewer.start()
    try:
        yield True
    finally:
        stopped.set()
        # the thread may be waiting for a store that is away
        renewer.join(LEASE_SECONDS)
        try:
            lock.release()
        except LockNotOwnedError:
            log.warning("the lease %s had run out before it was released", name)


def _acquire_lock(lock: Lock, timeout: float) -> bool:
    end, token = time.monotonic() + timeout, uuid4().hex
    while True:
        seconds = max(0.0, min(_SHUTDOWN_CHECK_SECONDS, end - time.monotonic()))
        if lock.acquire(blocking_timeout=seconds, token=token):
            return True
        deadlines.get_limit().ending.raise_if_triggered()
        if time.monotonic() >= end:
            return False


def _renew_until_done(lock: Lock, stopped: threading.Event) -> None:
    while not stopped.wait(LEASE_SECONDS / 3):
        try:
            lock.reacquire()
        except LockNotOwnedError:
            log.warning("a lease was lost while it was held; another process may do the same work")
            return
        except RedisError as error:
            log.warning("a lease could not be renewed: %s", error)
