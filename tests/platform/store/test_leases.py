import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from redis import Redis

from bot.errors import PostingInProgress
from bot.platform.store.connection import UNPREFIXED, connect_server
from bot.platform.store.leases import LEASE_SECONDS, hold_lease
from tests.helpers.records import digest_store
from tests.platform.store.lease_holder import ROUNDS, holder

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Seen:
    """What happened while the waiting was done, all of it at the same time: it takes longer than a lifetime."""

    freed_after: float
    refused: str
    refused_own: str
    kept: bool


@pytest.fixture(scope="module")
def lease_sightings(store_url: str) -> Seen:
    with connect_server(store_url) as client, ExitStack() as stack, ThreadPoolExecutor(3) as pool:
        client.flushall()
        killed = stack.enter_context(holder(store_url, "cache", "killed"))
        stack.enter_context(holder(store_url, "exclusive", "long"))
        killed.kill()
        freed = pool.submit(wait_for, client, "killed")
        refused = pool.submit(refusal, client, "long")
        own = pool.submit(entered_again, client, "own")
        return Seen(freed.result(), refused.result(), own.result(), client.exists("lease:long") == 1)


def wait_for(client: Redis, name: str) -> float:
    begun = time.monotonic()
    with hold_lease(client, UNPREFIXED, name):
        return time.monotonic() - begun


def refusal(client: Redis, name: str) -> str:
    try:
        with digest_store(client).hold_lock(name):
            return ""
    except PostingInProgress as error:
        return str(error)


def entered_again(client: Redis, name: str) -> str:
    with digest_store(client).hold_lock(name):
        return refusal(client, name)


def test_a_killed_holders_lease_is_free_after_its_lifetime(lease_sightings: Seen) -> None:
    assert LEASE_SECONDS / 2 < lease_sightings.freed_after < LEASE_SECONDS + 2


def test_a_living_holder_keeps_its_lease_beyond_the_lifetime(lease_sightings: Seen) -> None:
    assert lease_sightings.kept


def test_who_waited_in_vain_for_the_right_to_post_is_told_in_a_sentence(lease_sightings: Seen) -> None:
    assert lease_sightings.refused.startswith("Another process is posting this")


def test_a_lease_is_not_entered_again_by_its_holder(lease_sightings: Seen) -> None:
    assert lease_sightings.refused_own


def test_a_lease_has_one_holder_among_processes(store: Redis, store_url: str) -> None:
    with ExitStack() as stack:
        processes = [stack.enter_context(holder(store_url, "rounds", "shared")) for _ in range(3)]
        assert [process.wait(30) for process in processes] == [0, 0, 0]
    assert (store.get("rounds"), store.get("clashes")) == (b"%d" % (3 * ROUNDS), None)


def test_who_waits_only_so_long_goes_on_without_the_lease(store: Redis) -> None:
    with (
        hold_lease(store, UNPREFIXED, "name") as first,
        hold_lease(store, UNPREFIXED, "name", timeout=0.2) as second,
    ):
        assert (first, second) == (True, False)
    with hold_lease(store, UNPREFIXED, "name", timeout=0.2) as third:
        assert third


def test_a_lease_whose_request_was_not_answered_is_held_at_once(store: Redis, store_url: str) -> None:
    """The client asks again, and hears that the lease is held: by itself."""
    with _DeafClient.from_url(store_url) as client, hold_lease(client, UNPREFIXED, "name", timeout=0) as is_held:
        assert is_held
        with hold_lease(client, UNPREFIXED, "name", timeout=0) as is_held_twice:
            assert not is_held_twice
    assert not store.exists("lease:name")


class _DeafClient(Redis):
    """A client that never hears the first answer to SET, and asks again."""

    def set(self, *arguments: Any, **options: Any) -> Any:
        super().set(*arguments, **options)
        return super().set(*arguments, **options)


def test_what_runs_under_a_lost_lease_ends_as_it_would(store: Redis, caplog: pytest.LogCaptureFixture) -> None:
    with hold_lease(store, UNPREFIXED, "name") as held:
        store.flushall()
    assert held
    assert "run out before it was released" in caplog.text


def test_a_lost_lease_that_another_holds_is_not_taken_from_it(store: Redis) -> None:
    with hold_lease(store, UNPREFIXED, "name"):
        store.set("lease:name", "another holder's token")
    assert store.get("lease:name") == b"another holder's token"
