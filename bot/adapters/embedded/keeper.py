"""The keeper of an embedded store: starts the server, and ends it when nobody has used it for a few seconds."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from bot.adapters.embedded.process import running_server
from bot.adapters.embedded.socket_path import KEEPER_LOCK, START_TIMEOUT, answers, socket_client, socket_path
from bot.adapters.files.private_folders import open_private

# seconds without a client after which the keeper ends; a command that follows another finds the server warm
LINGER = 3.0
# seconds that a first client has to come
_FIRST_CLIENT = 10.0
# a lock that is taken for longer than that is a keeper's, not somebody's who looks whether there is one
_LOOK = 1.0
_POLL = 0.05
# what the keeper and the server write is for this user alone
_UMASK = 0o077


def is_kept(state: Path) -> bool:
    """Whether a keeper watches over the store of a state directory."""
    with _lock_file(state) as descriptor:
        return not is_locked(descriptor, fcntl.LOCK_SH)


def keep(state: Path) -> None:
    """Run the server of a state directory until nobody uses it. At once over where another keeper does."""
    path = socket_path(state)
    with _lock_file(state) as descriptor:
        if not _become_keeper(descriptor, path):
            return
        if answers(path):
            # its keeper died; this one takes its place
            _until_unused(path, LINGER)
            return
        with running_server(state / "valkey") as server:
            # to read what was kept takes a second for each hundred megabytes
            while not answers(path):
                if server.poll() is not None:
                    sys.exit(
                        f"The server ended with code {server.returncode}: see {state / 'valkey' / 'valkey.log'}."
                    )
                time.sleep(_POLL)
            _until_unused(path, _FIRST_CLIENT)


def _become_keeper(descriptor: int, path: Path) -> bool:
    """Take the lock. While another keeper ends its server this waits; where one goes on keeping it gives up."""
    began = time.monotonic()
    while not is_locked(descriptor):
        waited = time.monotonic() - began
        if waited > START_TIMEOUT or (waited > _LOOK and answers(path)):
            return False
        time.sleep(_POLL)
    return True


@contextmanager
def _lock_file(state: Path) -> Iterator[int]:
    with open_private(state / KEEPER_LOCK) as file:
        yield file.fileno()


def is_locked(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Take the lock of an open file unless another has it; whether it is taken now."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _until_unused(path: Path, patience: float) -> None:
    """Returns when no other client was connected for a while, or somebody ended the server; it is over then."""
    with suppress(RedisError), socket_client(path) as client:
        unused_since = time.monotonic()
        while time.monotonic() - unused_since < patience:
            time.sleep(LINGER / 10)
            if _others(client):
                unused_since, patience = time.monotonic(), LINGER
        client.shutdown(nosave=True)


def _others(client: Redis) -> int:
    return len(client.client_list(_type="normal")) - 1


if __name__ == "__main__":
    os.umask(_UMASK)
    # whoever started this waits for it, and shall not wait for the keeper, nor have it as a child to reap
    if os.fork() == 0:
        keep(Path(sys.argv[1]))
