"""What a store says of itself: of its server, its jobs, the version of its data, and the workspace of its bot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast
from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import ResponseError

from bot.errors import ConfigurationError, StoreUnavailable
from bot.platform.finding import Finding
from bot.platform.jobs import QueueName
from bot.platform.store.connection import UNPREFIXED, Keyspace, require_single_server, translate_redis_errors
from bot.platform.store.keys import SCHEMA_VERSION, STORE_OWNER, WRITE_PROBE, build_jobs_key
from impact.text.strings import quote_input

# Dramatiq's own name
_HEARTBEATS_NAME = build_jobs_key("__heartbeats__")
QUEUE_NAMES = tuple(lane.value for lane in QueueName)
_HIDDEN_ADDRESS = "the server of REDIS_URL"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server's status in bytes, ``limit`` 0 for none. ``persistence`` is empty without, None if unknown."""

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
        if files.get("aof_enabled"):
            persistence: str | None = "append-only file"
        else:
            try:
                points = cast("dict[str, str]", client.config_get("save")).get("save")
                persistence = "snapshots" if points else ""
            except ResponseError:
                # hosted servers show their configuration to nobody
                persistence = None
    return ServerStatus(
        policy=str(memory.get("maxmemory_policy", "noeviction")),
        used=int(memory.get("used_memory", 0)),
        limit=int(memory.get("maxmemory", 0)),
        persistence=persistence,
        time=datetime.fromtimestamp(seconds + micros / 1_000_000, UTC),
    )


def write_sample(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """Write a key that expires after a minute, also by a script, as jobs and leases are written.

    Raises StoreUnavailable, which says why it is refused.
    """
    key, seconds = keys.add_prefix(WRITE_PROBE.build_key()), int(WRITE_PROBE.lifetime.total_seconds())
    with translate_redis_errors():
        client.set(key, "1", ex=seconds)
        script = client.script_load("return redis.call('SET', KEYS[1], '1', 'EX', ARGV[1])")
        client.evalsha(script, 1, key, seconds)


def read_heartbeats(client: Redis, keys: Keyspace) -> Mapping[str, datetime]:
    """Return when each worker and sender of jobs last called the store, by its own clock: Dramatiq notes it."""
    with translate_redis_errors():
        scores = cast(
            "list[tuple[bytes, float]]", client.zrange(keys.add_prefix(_HEARTBEATS_NAME), 0, -1, withscores=True)
        )
    return {name.decode(): datetime.fromtimestamp(score / 1_000, UTC) for name, score in scores}


def count_waiting_jobs(client: Redis, keys: Keyspace) -> Mapping[str, int]:
    """Return, by queue, how many jobs no worker has started yet."""
    with translate_redis_errors():
        return {queue: client.llen(keys.add_prefix(build_jobs_key(queue))) for queue in QUEUE_NAMES}


def count_delayed_jobs(client: Redis, keys: Keyspace) -> Mapping[str, int]:
    """Return, by queue, how many jobs wait for their next attempt: messages, since workers hold most of them."""
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


# --- the version of what is kept for good

# that of 0.1.0, the first release; raise it with what reads the data of the version before
CURRENT_SCHEMA = 3
SCHEMA_KEY = SCHEMA_VERSION.build_key()
_VERSION_PATTERN = re.compile(r"[1-9][0-9]{0,5}")


def require_schema(client: Redis, keys: Keyspace = UNPREFIXED) -> None:
    """Note the version in a new store; takes one GET otherwise. Raises StoreUnavailable for another version."""
    if read_version(client, keys) is None:
        with translate_redis_errors():
            client.set(keys.add_prefix(SCHEMA_KEY), str(CURRENT_SCHEMA), nx=True)


def read_version(client: Redis, keys: Keyspace = UNPREFIXED) -> int | None:
    """Return the version of the data, None if the store is new. Raises StoreUnavailable for another version."""
    with translate_redis_errors():
        stored = cast("bytes | None", client.get(keys.add_prefix(SCHEMA_KEY)))
    if stored is None:
        return None
    version = stored.decode(errors="replace")
    if not _VERSION_PATTERN.fullmatch(version):
        raise StoreUnavailable(
            f"The store's key {keys.add_prefix(SCHEMA_KEY)} contains {quote_input(version)}: use "
            "another REDIS_URL."
        )
    versions = f"(schema {version}, this version supports {CURRENT_SCHEMA})"
    if int(version) > CURRENT_SCHEMA:
        raise StoreUnavailable(f"A newer prdigest wrote this store {versions}: upgrade, or use another REDIS_URL.")
    if int(version) < CURRENT_SCHEMA:
        raise StoreUnavailable(f"A prdigest before 0.1.0 wrote this store {versions}: use another REDIS_URL.")
    return int(version)


def read_owner(client: Redis, keys: Keyspace = UNPREFIXED) -> str | None:
    """Return the workspace that owns a store, None if none does. Raises StoreUnavailable."""
    with translate_redis_errors():
        owner = cast("bytes | None", client.get(keys.add_prefix(STORE_OWNER.build_key())))
    return None if owner is None else owner.decode(errors="replace")


def claim_store(client: Redis, keys: Keyspace, workspace: str) -> None:
    """Claim a store for the workspace of the bot's token if it has no owner.

    Before this returns, nothing in the store may be read or written. Raises ConfigurationError if it belongs to
    another workspace, and StoreUnavailable.
    """
    with translate_redis_errors():
        client.set(keys.add_prefix(STORE_OWNER.build_key()), workspace, nx=True)
    owner = read_owner(client, keys) or workspace
    if owner != workspace:
        raise ConfigurationError(describe_conflict(owner, workspace, keys.prefix))


def describe_conflict(owner: str, workspace: str, prefix: str) -> str:
    """Return one sentence for the operator who uses another workspace's store."""
    store = f"The store with the prefix {prefix}" if prefix else "The store"
    own = "another PRDIGEST_STORE_PREFIX" if prefix else "its own PRDIGEST_STORE_PREFIX"
    return (
        f"{store} belongs to the workspace {owner}, but SLACK_BOT_TOKEN is for {workspace}: give this bot {own}."
    )
