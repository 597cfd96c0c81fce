"""Ledgers of deprecations on a real server."""

from __future__ import annotations

import pytest
from redis import Redis

from bot.adapters.redis import RedisDeprecationStore
from bot.domain.errors import StoreUnavailable
from bot.domain.keyspace.keys import DEPRECATIONS
from bot.domain.pull_requests.models import Repository
from impact.contract.deprecations import Deprecation, DeprecationLedger
from impact.contract.models import ContractClass
from tests.helpers.builders import NOON, REPOSITORY

ENTRY = Deprecation(
    ContractClass.FLAG, "--old", 5, "c" * 40, NOON, "use --new", "a.py", 3, "v1.2", "--new", 9, NOON
)


def test_a_ledger_comes_back_as_it_was_saved(store: Redis) -> None:
    ledgers = RedisDeprecationStore(store)
    assert ledgers.load(REPOSITORY) == DeprecationLedger()
    ledger = DeprecationLedger((ENTRY,), NOON)
    with ledgers.hold_lock(REPOSITORY):
        ledgers.save(REPOSITORY, ledger)
    assert ledgers.load(Repository("Octo", "Engine")) == ledger


def test_an_unreadable_ledger_is_empty(store: Redis) -> None:
    for damaged in (b"p", b"p{", b'p{"version": 1, "entries": 7}'):
        store.set(DEPRECATIONS.build_key(str(REPOSITORY)), damaged)
        assert RedisDeprecationStore(store).load(REPOSITORY) == DeprecationLedger()


def test_a_ledger_of_a_later_version_is_not_replaced(store: Redis) -> None:
    store.set(DEPRECATIONS.build_key(str(REPOSITORY)), b'p{"version": 2}')
    with pytest.raises(StoreUnavailable):
        RedisDeprecationStore(store).load(REPOSITORY)
