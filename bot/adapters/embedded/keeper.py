"""The keeper of an embedded store: starts the server, and stops it a few seconds after its last use."""

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

# seconds without a client until the keeper ends; a command soon after another needs no new server
LINGER = 3.0
# seconds for the first client to connect
_FIRST_CLIENT = 10.0
# a lock held for longer than this is a keeper's, not that of a process that checks for a keeper
_LOOK = 1.0
_POLL = 0.05
# only this user may read what the keeper and the server write
_UMASK = 0o077


def is_kept(state: Path) -> bool:
    """Return whether a keeper runs for a state directory."""
    with _lock_file(state) as descriptor:
        return not is_locked(descriptor, fcntl.LOCK_SH)


def keep(state: Path) -> None:
    """Run the server of a state directory until nobody uses it. Return at once if another keeper runs it."""
    path = socket_path(state)
    with _lock_file(state) as descriptor:
        if not _become_keeper(descriptor, path):
            return
        if answers(path):
            # the server's keeper died; this process replaces it
            _until_unused(path, LINGER)
            return
        with running_server(state / "valkey") as server:
            # the server loads its data at about a hundred megabytes a second
            while not answers(path):
                if server.poll() is not None:
                    sys.exit(
                        f"The server ended with code {server.returncode}: see {state / 'valkey' / 'valkey.log'}."
                    )
                time.sleep(_POLL)
            _until_unused(path, _FIRST_CLIENT)


def _become_keeper(descriptor: int, path: Path) -> bool:
    """Acquire the keeper's lock, and return whether this succeeded.

    Wait while another keeper stops its server; give up if that one goes on.
    """
    began = time.monotonic()
    while not is_locked(descriptor):
        waited = time.monotonic() - began
        if waited > START_TIMEOUT or (waited > _LOOK and answers(path)):
            return False
        time.sleep(_POLL)
    return True


@contextmanager
def _lock_file(state: Path) -> Iterator[int]:
    """Open the lock file for the block, and yield its descriptor."""
    with open_private(state / KEEPER_LOCK) as file:
        yield file.fileno()


def is_locked(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Lock an open file unless another process holds the lock, and return whether it is locked now."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _until_unused(path: Path, patience: float) -> None:
    """Wait until no other client was connected for ``patience`` seconds, then stop the server.

    Return as well if somebody else stopped it.
    """
    with suppress(RedisError), socket_client(path) as client:
        unused_since = time.monotonic()
        while time.monotonic() - unused_since < patience:
            time.sleep(LINGER / 10)
            if _others(client):
                unused_since, patience = time.monotonic(), LINGER
        client.shutdown(nosave=True)


def _others(client: Redis) -> int:
    """Return how many other clients are connected."""
    return len(client.client_list(_type="normal")) - 1


if __name__ == "__main__":
    os.umask(_UMASK)
    # the caller waits for this process, and must neither wait for the keeper nor reap it as its child
    if os.fork() == 0:
        keep(Path(sys.argv[1]))
