"""Where the embedded store of a state directory listens, and whether it answers there."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

# the length that the kernel allows for a socket's path, less the closing NUL
_LONGEST_SOCKET_PATH = 107
# seconds that a server has to answer after it was started, or to end after it was told to
START_TIMEOUT = 15.0
# the file in a state directory that its keeper holds
KEEPER_LOCK = "keeper.lock"


def socket_path(state: Path) -> Path:
    """Where the server of a state directory listens: in it, or under a short name if its own is too long."""
    path = state.resolve() / "valkey.sock"
    if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return path
    name = hashlib.sha256(os.fsencode(state.resolve())).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"prdigest-{os.getuid()}-{name}" / "valkey.sock"


def socket_client(path: Path) -> Redis:
    """A client that asks once: whether a server answers is the question, not a fault to wait out."""
    return Redis(unix_socket_path=str(path), socket_timeout=5, retry=Retry(NoBackoff(), 0))


def answers(path: Path) -> bool:
    """Whether a server listens there."""
    if not path.exists():
        return False
    try:
        with socket_client(path) as client:
            return bool(client.ping())
    except RedisError:
        return False
