"""Checks of the store for the doctor: one attempt each, with a short timeout."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import cast
from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import ResponseError

from bot.domain.keyspace.keys import WRITE_PROBE, build_jobs_key
from bot.domain.operations.lane import QueueName
from bot.platform.store.connection import require_durable, require_single_server
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.platform.store.owner import RedisWorkspaceOwner
from bot.platform.store.schema import read_version
from bot.ports.probes import ServerStatus

# Dramatiq's own name
_HEARTBEATS_NAME = build_jobs_key("__heartbeats__")
QUEUE_NAMES = tuple(lane.value for lane in QueueName)
_HIDDEN_ADDRESS = "the server of REDIS_URL"


class RedisProbe:
    """``StoreProbe`` on Redis."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def read_status(self) -> ServerStatus:
        """Return the status that the server reports. Raises StoreUnavailable for a cluster."""
        require_single_server(self._client)
        with translate_redis_errors():
            memory = self._client.info("memory")
            files = self._client.info("persistence")
            seconds, micros = self._client.time()
        return ServerStatus(
            policy=str(memory.get("maxmemory_policy", "noeviction")),
            used=int(memory.get("used_memory", 0)),
            limit=int(memory.get("maxmemory", 0)),
            persistence="append-only file" if files.get("aof_enabled") else self._read_snapshot_setting(),
            time=datetime.fromtimestamp(seconds + micros / 1_000_000, UTC),
        )

    def require_durable(self) -> None:
        """Raise StoreUnavailable if the server may drop data that has to stay."""
        require_durable(self._client)

    def describe_schema(self) -> str:
        """Return the version of the stored data in a few words."""
        version = read_version(self._client, self._keys)
        return "none yet, the store is new" if version is None else f"version {version}"

    def check_writing(self) -> None:
        """Write a key that expires after a minute."""
        with translate_redis_errors():
            self._client.set(self._keys.add_prefix(WRITE_PROBE.build_key()), "1", ex=WRITE_PROBE.lifetime)

    def read_owner(self) -> str | None:
        """Return the id of the workspace that the bot stored at its first start."""
        return RedisWorkspaceOwner(self._client, self._keys).read_workspace()

    def read_heartbeats(self) -> Mapping[str, datetime]:
        """Return the heartbeats that Dramatiq stores at every command, for workers and for senders of jobs."""
        with translate_redis_errors():
            scores = cast(
                "list[tuple[bytes, float]]",
                self._client.zrange(self._keys.add_prefix(_HEARTBEATS_NAME), 0, -1, withscores=True),
            )
        return {name.decode(): datetime.fromtimestamp(score / 1_000, UTC) for name, score in scores}

    def count_waiting_jobs(self) -> Mapping[str, int]:
        """Return the number of waiting jobs of every queue."""
        with translate_redis_errors():
            return {
                queue: self._client.llen(self._keys.add_prefix(build_jobs_key(queue))) for queue in QUEUE_NAMES
            }

    def count_delayed_jobs(self) -> Mapping[str, int]:
        """Return the number of jobs of every queue that wait for their time.

        Workers hold most of them in memory, so their messages are counted.
        """
        with translate_redis_errors():
            return {
                queue: self._client.hlen(self._keys.add_prefix(build_jobs_key(f"{queue}.DQ.msgs")))
                for queue in QUEUE_NAMES
            }

    def _read_snapshot_setting(self) -> str | None:
        """Return "snapshots" if the server writes them, else an empty text.

        Return None if it does not show its configuration. Hosted servers show it to nobody.
        """
        try:
            points = cast("dict[str, str]", self._client.config_get("save")).get("save")
        except ResponseError:
            return None
        return "snapshots" if points else ""


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
