"""Connections to Redis, and to the embedded store, which they start again if it has died; texts that expire."""

from __future__ import annotations

import logging
import math
import os
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from redis import BlockingConnectionPool, Redis
from redis.backoff import ExponentialBackoff
from redis.connection import UnixDomainSocketConnection
from redis.exceptions import AuthenticationError, BusyLoadingError, RedisError, ResponseError
from redis.exceptions import ConnectionError as BrokenConnection
from redis.retry import Retry

from bot.errors import StoreUnavailable
from bot.platform.store.embedded.server import get_socket_path, start_embedded

CLUSTER_UNSUPPORTED = (
    "The store is a Redis Cluster, which prdigest doesn't support: set REDIS_URL to a single server."
)
_UNREACHABLE = "The store does not answer: start Redis or check REDIS_URL (unset it to use the embedded store)."
_WRONG_PASSWORD = "The store rejected the password: check the user and the password in REDIS_URL."  # noqa: S105 (about it)
_READ_ONLY_REPLICA = "The store is a read-only replica: set REDIS_URL to its primary."
_MISSING_RIGHTS = "The store's user lacks a permission: in its ACL, allow {} and the keys of prdigest."
_CONNECTION_CLOSED = (
    "The store closes the connection: check that it runs, or write rediss:// in REDIS_URL if it needs TLS."
)
# the first word of an error of a server, by its protocol
_SENTENCES_BY_CODE = {
    "NOAUTH": "The store needs a password: write it into REDIS_URL as redis://:password@host:6379/0.",
    "WRONGPASS": _WRONG_PASSWORD,
    "NOPERM": _MISSING_RIGHTS.format("all commands (+@all)"),
    "OOM": "The store is full: raise maxmemory of the server.",
    "READONLY": _READ_ONLY_REPLICA,
    "MASTERDOWN": _READ_ONLY_REPLICA,
    "MISCONF": "The store accepts no writes because it can't save its data: check its disk and its log.",
    "LOADING": "The store is still reading its data: try again in a minute.",
    "WRONGTYPE": (
        "The store has another program's data under a key of prdigest: set PRDIGEST_STORE_PREFIX, or use "
        "another REDIS_URL."
    ),
    **dict.fromkeys(("CLUSTERDOWN", "MOVED", "ASK", "TRYAGAIN", "CROSSSLOT"), CLUSTER_UNSUPPORTED),
}
# parts of errors that have no such word, or that a script or a pipeline passed on
_SENTENCES_BY_TEXT = {
    "ACL failure in script": _MISSING_RIGHTS.format("all commands (+@all)"),
    "max number of clients": "The store accepts no more connections: raise maxclients of the server.",
    "Connection closed by server": _CONNECTION_CLOSED,
    "Connection reset by peer": _CONNECTION_CLOSED,
}
_NO_TLS = "The store does not answer in TLS: check that it runs, or write redis:// in REDIS_URL if it has no TLS."
_UNVERIFIED_CERTIFICATE = (
    "The store's certificate can't be verified: add its authority to REDIS_URL as ?ssl_ca_certs=/path/to/ca.pem."
)
_COMMAND_REFUSED = "The store rejected a command: see the log of the server."
_MISSING_COMMAND = "The store has no command {}, which prdigest needs: set REDIS_URL to another server."
# of an ACL, and of a server that lacks a command or hides it
_REFUSED_COMMAND = re.compile(r"no permissions to run the '([a-z|]{2,40})'", re.I)
_UNKNOWN_COMMAND = re.compile(r"unknown command [`']?([a-z|]{2,40})\b", re.I)
# a pipeline first names the command that failed
_ERROR_CODE = re.compile(r"(?:Command # \d+ .* of pipeline caused error: )?([A-Z]+) ", re.S)


@contextmanager
def translate_redis_errors() -> Iterator[None]:
    """Raise StoreUnavailable in place of what redis-py raises in the block."""
    try:
        yield
    except RedisError as error:
        raise StoreUnavailable(describe_redis_error(error)) from error


def describe_redis_error(error: RedisError) -> str:
    """Return the cause of an error and what to do about it, in one sentence without the server's own words."""
    text = str(error)
    code = error.status_code or (written[1] if (written := _ERROR_CODE.match(text)) else "")
    if refused := _REFUSED_COMMAND.search(text):
        name = refused[1].lower()
        return _MISSING_RIGHTS.format(f"{name.replace('|', ' ').upper()} (+{name})")
    if unknown := _UNKNOWN_COMMAND.search(text):
        return _MISSING_COMMAND.format(unknown[1].upper())
    by_text = (sentence for mark, sentence in _SENTENCES_BY_TEXT.items() if mark in text)
    if sentence := _SENTENCES_BY_CODE.get(code) or next(by_text, None):
        return sentence
    # a failed handshake is wrapped
    causes = _list_causes(error)
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
        return _UNVERIFIED_CERTIFICATE
    if any(isinstance(each, ssl.SSLError) or "handshake" in str(each) for each in causes):
        return _NO_TLS
    if isinstance(error, AuthenticationError):
        return _WRONG_PASSWORD
    return _COMMAND_REFUSED if isinstance(error, ResponseError) else _UNREACHABLE


def _list_causes(error: BaseException) -> list[BaseException]:
    causes: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in causes:
        causes.append(current)
        current = current.__cause__ or current.__context__
    return causes


# no name has it before its first colon, so no key can be mistaken for another deployment's
_PREFIX_END = "/"
_GLOB_CHARACTERS = re.compile(r"([*?\[\]\\^-])")


@dataclass(frozen=True, slots=True)
class Keyspace:
    """Conversion of names to keys and back. Without a ``prefix`` they are the same."""

    prefix: str = ""

    def add_prefix(self, name: str) -> str:
        return f"{self.prefix}{_PREFIX_END}{name}" if self.prefix else name

    def iterate_names(self, client: Redis, pattern: str = "*") -> Iterator[str]:
        """Yield the names of this deployment's keys in a store that match a pattern. Raises RedisError."""
        prefix = f"{self.prefix}{_PREFIX_END}" if self.prefix else ""
        escaped = _GLOB_CHARACTERS.sub(r"\\\1", prefix)
        for key in client.scan_iter(f"{escaped}{pattern}", count=1_000):
            name = cast("bytes", key).decode(errors="replace").removeprefix(prefix)
            # without a prefix, every key matches
            if _PREFIX_END not in name.partition(":")[0]:
                yield name


# for a store that is not shared
UNPREFIXED = Keyspace()


# --- the connection

log = logging.getLogger(__name__)

# the first 160 characters of a summary compress little; a hundred kilobytes of patches compress five times
_MIN_COMPRESSED_BYTES = 1_000
_MAX_CONNECTIONS = 32
_PLAIN_TAG, _ZLIB_TAG = b"p", b"z"
# what a server says that is not the primary any more, or not yet again: as a code, from a script, or for EXEC
_LEFT_BEHIND = re.compile(r"(?:^|-|because of: )(READONLY|MASTERDOWN|LOADING|CLUSTERDOWN|NOREPLICAS|UNBLOCKED)\b")


@dataclass(frozen=True, slots=True)
class RedisTimeouts:
    """Timeouts for a server: seconds to connect and to wait for an answer, and the number of retries."""

    connect: float = 5.0
    answer: float = 15.0
    retries: int = 3


# Slack allows three seconds for an answer; a person who waits behind it is better asked to try again
SHORT_TIMEOUTS = RedisTimeouts(connect=0.5, answer=0.9, retries=1)


def connect_server(url: str, *, timeouts: RedisTimeouts = RedisTimeouts()) -> Redis:
    """Create a client for ``redis://``, ``rediss://`` or ``unix://``. Raises StoreUnavailable for others."""
    try:
        pool = BlockingConnectionPool.from_url(
            url, max_connections=_MAX_CONNECTIONS, **_build_pool_options(timeouts)
        )
    except ValueError as error:
        raise StoreUnavailable("REDIS_URL is not an address: write it as redis://host:6379/0.") from error
    kind = pool.connection_class
    pool.connection_class = type(kind.__name__, (_FollowingConnection, kind), {})
    pool.connection_kwargs["failovers"] = _Failovers()
    return Redis.from_pool(pool)


# seconds in which a connection that was opened again and is refused again leads to the same server
_FOLLOWING_SECONDS = 1.0


@dataclass(slots=True)
class _Failovers:
    """How often the connections of a pool heard that their server was left behind."""

    count: int = 0


class _FollowingConnection:
    """Mixin for connections of a pool: after a failover they lead where the name of the server leads now.

    A former primary keeps its connections and refuses what is written. Such an answer is a broken connection: the
    client opens another one and asks again, once. Nothing of the refused request was done. All others of the pool
    are opened again when they are next used, as reads would go on to be of old data.
    """

    def __init__(self, *, failovers: _Failovers, **options: Any) -> None:
        self._failovers = failovers
        self._known = failovers.count
        self._left_at = -math.inf
        super().__init__(**options)

    def connect(self) -> None:
        """Open the connection if it is closed; a pool calls this each time it hands the connection out."""
        if self._known != self._failovers.count:
            self._known = self._failovers.count
            self.disconnect()  # type: ignore[attr-defined]
        super().connect()  # type: ignore[misc]

    def read_response(self, *arguments: Any, **keywords: Any) -> Any:
        try:
            return super().read_response(*arguments, **keywords)  # type: ignore[misc]
        except (ResponseError, BusyLoadingError) as error:
            written = f"{error.status_code or ''} {error}".lstrip()
            if not (code := _LEFT_BEHIND.search(written)):
                raise
            self._failovers.count += 1
            self._known = self._failovers.count
            is_repeated = time.monotonic() - self._left_at < _FOLLOWING_SECONDS
            self._left_at = time.monotonic()
            if is_repeated:
                # a name that leads to a replica is no failover: a transaction would be begun again without end.
                # The rest of its answers is still to be read
                self.mark_for_reconnect()  # type: ignore[attr-defined]
                raise
            self.disconnect()  # type: ignore[attr-defined]
            raise BrokenConnection(str(error), status_code=code[1]) from error


def _build_pool_options(timeouts: RedisTimeouts) -> dict[str, Any]:
    return {
        "timeout": timeouts.connect + timeouts.answer,
        "socket_timeout": timeouts.answer,
        "socket_connect_timeout": timeouts.connect,
        "retry": Retry(ExponentialBackoff(cap=1.0, base=0.05), timeouts.retries),
    }


def connect_embedded(state: Path, timeouts: RedisTimeouts = RedisTimeouts()) -> Redis:
    """Connect a client to the embedded store, which runs as long as it has clients.

    If the store is killed, a new connection starts it again. Raises StoreUnavailable: it can't be started, or says
    that it is of no use, as with a full disk.
    """
    start_embedded(state)
    pool = BlockingConnectionPool(  # type: ignore[no-untyped-call]
        connection_class=RestartingConnection,
        path=os.fspath(get_socket_path(state)),
        restarter=StoreRestarter(lambda: start_embedded(state), timeouts.connect),
        **_build_pool_options(timeouts),
    )
    client = Redis.from_pool(pool)
    try:
        client.ping()
    except ResponseError as error:
        client.close()
        raise StoreUnavailable(describe_redis_error(error)) from error
    except RedisError as error:
        client.close()
        message = "The embedded store stops right after it starts: set REDIS_URL to a server."
        raise StoreUnavailable(message) from error
    return client


class StoreRestarter:
    """Restarts the store in a thread, one at a time. Callers meanwhile wait for the same restart.

    ``start`` returns when the store runs. Callers wait for that for at most ``timeout`` seconds.
    """

    def __init__(self, start: Callable[[], object], timeout: float) -> None:
        self._start = start
        self._timeout = timeout
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def restart_store(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._start_store, daemon=True, name="revive")
                self._thread.start()
            thread = self._thread
        thread.join(self._timeout)

    def _start_store(self) -> None:
        try:
            self._start()
        except StoreUnavailable as error:
            log.warning("the embedded store can't be started again: %s", error)
        else:
            log.warning("the embedded store had ended and was started again")


class RestartingConnection(UnixDomainSocketConnection):
    def __init__(self, *, restarter: StoreRestarter, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._restarter = restarter

    def _connect(self) -> socket.socket:
        try:
            return cast("socket.socket", super()._connect())  # type: ignore[no-untyped-call]
        except (ConnectionRefusedError, FileNotFoundError):
            self._restarter.restart_store()
            return cast("socket.socket", super()._connect())  # type: ignore[no-untyped-call]


def require_single_server(client: Redis) -> None:
    """Refuse a cluster: keys that are written together would be on several servers. Raises StoreUnavailable."""
    with translate_redis_errors():
        if client.info("cluster").get("cluster_enabled"):
            raise StoreUnavailable(CLUSTER_UNSUPPORTED)


def require_durable(client: Redis) -> None:
    """Refuse a cluster, and a server that may evict keys without an expiry. Raises StoreUnavailable."""
    require_single_server(client)
    with translate_redis_errors():
        memory = cast("dict[str, str]", client.info("memory"))
    policy = memory.get("maxmemory_policy", "noeviction")
    if policy.startswith("allkeys"):
        raise StoreUnavailable(
            f"The store may evict records (maxmemory-policy {policy}): set it to noeviction or volatile-lru."
        )


class RedisCache:
    """Texts that expire. Every method may raise StoreUnavailable."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def get(self, key: str) -> str | None:
        """Return the value of a key, None if there is none or it is unreadable."""
        with translate_redis_errors():
            data = self._client.get(self._keys.add_prefix(key))
        try:
            return unpack_value(data) if isinstance(data, bytes) else None
        except (zlib.error, UnicodeDecodeError):
            log.warning("what the cache holds of %s can't be read, it is made again", key)
            return None

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        with translate_redis_errors():
            self._client.set(self._keys.add_prefix(key), pack_value(value), ex=lifetime)

    def add(self, key: str, value: str, lifetime: timedelta) -> bool:
        """Store a value for a time unless the key has one; return whether it was stored."""
        with translate_redis_errors():
            return bool(self._client.set(self._keys.add_prefix(key), pack_value(value), ex=lifetime, nx=True))


def pack_value(value: str) -> bytes:
    """Return a text as stored bytes: compressed if it is long, after a tag that says so."""
    data = value.encode()
    return _ZLIB_TAG + zlib.compress(data) if len(data) >= _MIN_COMPRESSED_BYTES else _PLAIN_TAG + data


def unpack_value(data: bytes) -> str:
    """Return the text of stored bytes. Raises zlib.error or UnicodeDecodeError for what is not packed."""
    return (zlib.decompress(data[1:]) if data[:1] == _ZLIB_TAG else data[1:]).decode()
