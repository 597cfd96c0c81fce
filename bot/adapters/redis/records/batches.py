"""Message batches whose results a backfill waits for, on Redis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from redis import Redis

from bot.adapters.redis.server.errors import translate_redis_errors
from bot.adapters.redis.server.keyspace import UNPREFIXED, Keyspace
from bot.adapters.redis.server.leases import LEASE_SECONDS, hold_lease
from bot.adapters.redis.spending import ADD_TO_LEDGER, LEDGER_SECONDS, list_amounts
from bot.domain.keyspace.keys import COST_LEDGER, MODEL_BATCH
from bot.domain.operations.batch import PendingBatch
from bot.domain.operations.ledger import LedgerEntry
from bot.ports.codecs.versioned_json import VersionedJson

_BATCH_JSON = VersionedJson(PendingBatch, 1, dict)
# KEYS: a batch, and the ledger of the day. ARGV: the seconds for which the ledger is kept; then names and amounts.
# A batch that is gone was counted before
_FINISH_SCRIPT = (
    ADD_TO_LEDGER
    + """
if redis.call('DEL', KEYS[1]) == 0 then
  return 0
end
add_to_ledger(KEYS[2], ARGV[1], 2)
return 1
"""
)


class RedisBatchStore:
    """``BatchStore`` on Redis: a text for each repository."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys
        self._finish_script = client.register_script(_FINISH_SCRIPT)

    def load(self, repository: str) -> PendingBatch | None:
        """Return the batch of a repository, None if there is none.

        Raises StoreUnavailable for one of a later version: to send it again would cost twice.
        """
        with translate_redis_errors():
            value = cast("bytes | None", self._client.get(self._build_key(repository)))
        return _BATCH_JSON.load_or_none(value.decode()) if value else None

    def save(self, repository: str, batch: PendingBatch) -> None:
        """Store a batch in place of an earlier one."""
        text = _BATCH_JSON.dump_text(batch)
        with translate_redis_errors():
            self._client.set(self._build_key(repository), text, ex=MODEL_BATCH.lifetime)

    def finish(self, repository: str, entry: LedgerEntry) -> bool:
        """Remove the batch of a repository and add what it cost, in one step; return whether there was one."""
        keys = [self._build_key(repository), self._keys.add_prefix(COST_LEDGER.build_key(entry.date))]
        arguments: list[str | int] = [LEDGER_SECONDS, *list_amounts(entry)]
        with translate_redis_errors():
            return bool(self._finish_script(keys, arguments))

    @contextmanager
    def try_lock(self, repository: str) -> Iterator[bool]:
        """Lock the batches of a repository, and yield whether that succeeded."""
        name = MODEL_BATCH.build_key(repository)
        with (
            translate_redis_errors(),
            hold_lease(self._client, self._keys, name, timeout=2 * LEASE_SECONDS) as is_held,
        ):
            yield is_held

    def _build_key(self, repository: str) -> str:
        return self._keys.add_prefix(MODEL_BATCH.build_key(repository))
