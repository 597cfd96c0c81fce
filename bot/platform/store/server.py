"""What a server of the store says of itself, for the doctor, for metrics and for App Home."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast
from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import ResponseError

from bot.platform.finding import Finding
from bot.platform.jobs import QueueName
from bot.platform.store.connection import require_single_server
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keys import WRITE_PROBE, build_jobs_key
from bot.platform.store.keyspace import UNPREFIXED, Keyspace

# Dramatiq's own name
_HEARTBEATS_NAME = build_jobs_key("__heartbeats__")
QUEUE_NAMES = tuple(lane.value for lane in QueueName)
_HIDDEN_ADDRESS = "the server of REDIS_URL"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """Status that a server reports. Memory is in bytes; a ``limit`` of 0 means that there is none.

    ``persistence`` says how the data outlives a restart: empty if it does not, None if it is unknown.
    """

    policy: str
    used: int
    limit: int
    persistence: str | None
    time: datetime


def read_status(client: Redis) -> ServerStatus:
    """Return the status that a server reports. Raises StoreUnavailable, also for a cluster."""
    require_single_server(client)
    with translate_redis_errors():
        memory = client.info("memory")
        files = client.info("persistence")
        seconds, micros = client.time()
    return ServerStatus(
        policy=str(memory.get("maxmemory_policy", "noeviction")),
        used=int(memory.get("used_memory", 0)),
        limit=int(memory.get("maxmemory", 0)),
        persistence="append-only file" if files.get("aof_enabled") else _read_snapshot_setting(client),
        time=datetime.fromtimestamp(seconds + micros / 1_000_000, UTC),
    )


def _read_snapshot_setting(client: Redis) -> str | None:
    """Return "snapshots" if the server writes them, else an empty text.

    Return None if it does not show its configuration. Hosted servers show it to nobody.
    """
    try:
        points = cast("dict[str, str]", client.config_get("save")).get("save")
    except ResponseError:
        return None
    return "snapshots" if points else ""


def write_sample(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """Write a key that expires after a minute. Raises StoreUnavailable, which says why it is refused."""
    with translate_redis_errors():
        client.set(keys.add_prefix(WRITE_PROBE.build_key()), "1", ex=WRITE_PROBE.lifetime)


def read_heartbeats(client: Redis, keys: Keyspace) -> Mapping[str, datetime]:
    """Return the last sign of life of each worker and of each sender of jobs, by its own clock.

    Dramatiq stores it at every command.
    """
    with translate_redis_errors():
        scores = cast(
            "list[tuple[bytes, float]]",
            client.zrange(keys.add_prefix(_HEARTBEATS_NAME), 0, -1, withscores=True),
        )
    return {name.decode(): datetime.fromtimestamp(score / 1_000, UTC) for name, score in scores}


def count_waiting_jobs(client: Redis, keys: Keyspace) -> Mapping[str, int]:
    """Return, by queue, how many jobs no worker has started yet."""
    with translate_redis_errors():
        return {queue: client.llen(keys.add_prefix(build_jobs_key(queue))) for queue in QUEUE_NAMES}


def count_delayed_jobs(client: Redis, keys: Keyspace) -> Mapping[str, int]:
    """Return, by queue, how many jobs wait for the time of their next attempt.

    Workers hold most of them in memory, so their messages are counted.
    """
    with translate_redis_errors():
        return {queue: client.hlen(keys.add_prefix(build_jobs_key(f"{queue}.DQ.msgs"))) for queue in QUEUE_NAMES}


def redact_address(url: str) -> str:
    """Return the address of a server without possibly secret parts: user, password, options."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return _HIDDEN_ADDRESS
    if "@" in parts.path + parts.query + parts.fragment:
        # a password that is not escaped as in an address ends up anywhere
        return _HIDDEN_ADDRESS
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


MEMORY = "Store memory"
# part of maxmemory
_FULL_SHARE = 0.9
_MEGABYTE = 1_000_000


def check_memory(server: ServerStatus) -> Finding:
    """Check how much of its memory the store uses. The finding says what to do before it is full."""
    used = f"{server.used / _MEGABYTE:,.1f}"
    if not server.limit:
        return Finding.build_success(MEMORY, f"{used} MB used, no limit")
    usage = f"{used} of {server.limit / _MEGABYTE:,.1f} MB used"
    # with another policy the server frees memory by dropping cached values
    if server.policy == "noeviction" and server.used > _FULL_SHARE * server.limit:
        advice = "Raise maxmemory of the server, or set maxmemory-policy to volatile-lru, before writes fail."
        return Finding.build_failure(MEMORY, usage, advice)
    return Finding.build_success(MEMORY, usage)
