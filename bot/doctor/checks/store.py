"""Checks of the store: that it answers, accepts writes, and keeps them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from datetime import datetime, timedelta

from bot.doctor.checks.failures import describe_failure
from bot.domain.errors import PrdigestError, StoreUnavailable
from bot.domain.operations.finding import CheckStatus, Finding
from bot.ports.probes import ServerStatus, StoreProbe, StoreRecords
from bot.services.operations.store_memory import MEMORY, check_memory

STORE = "Store"
_DETAIL_CHECKS = ("Store policy", MEMORY, "Store persistence", "Store writes", "Store schema")
POLICY, _, PERSISTENCE, WRITES, SCHEMA = _DETAIL_CHECKS


def check_store(
    open_records: Callable[[], StoreRecords] | str, place: str, now: Callable[[], datetime]
) -> Generator[Finding, None, tuple[StoreRecords | str, timedelta | None]]:
    """Check the store.

    Return its records, or the reason why it can't be used, and how far its clock is ahead of ours.
    ``open_records`` returns the records, or is the reason why there are none. ``place`` is the address to show.
    """
    if isinstance(open_records, str):
        yield Finding.build_note(STORE, open_records)
        return f"see {STORE} above", None
    try:
        records = open_records()
        server = records.probe.read_status()
        ahead = server.time - now()
    except PrdigestError as error:
        yield describe_failure(STORE, error)
        yield from (Finding.build_unchecked(name, f"see {STORE} above") for name in _DETAIL_CHECKS)
        return f"see {STORE} above", None
    yield Finding.build_success(STORE, f"{place} answers")
    yield from _check_details(records.probe, server)
    schema = _try_action(SCHEMA, records.probe.describe_schema)
    yield schema
    return (f"see {SCHEMA} above" if schema.status is CheckStatus.FAILED else records), ahead


def _check_details(probe: StoreProbe, server: ServerStatus) -> Iterator[Finding]:
    """Yield the findings about a store that answers."""
    yield _try_action(POLICY, lambda: _require_durable_policy(probe, server))
    yield check_memory(server)
    yield _check_persistence(server)
    yield _try_action(WRITES, lambda: _write_sample(probe))


def _try_action(name: str, act: Callable[[], str]) -> Finding:
    """Return the finding about an action that the store may refuse; ``act`` returns the detail to show."""
    try:
        return Finding.build_success(name, act())
    except StoreUnavailable as error:
        return Finding.build_failure(name, "refused", str(error))


def _require_durable_policy(probe: StoreProbe, server: ServerStatus) -> str:
    """Check that the store drops no permanent records. Raises StoreUnavailable."""
    probe.require_durable()
    return f"{server.policy}: permanent data is safe"


def _write_sample(probe: StoreProbe) -> str:
    """Write to the store. Raises StoreUnavailable."""
    probe.check_writing()
    return "accepted"


def _check_persistence(server: ServerStatus) -> Finding:
    """Return the finding about what survives a restart of the server."""
    if server.persistence is None:
        return Finding.build_note(PERSISTENCE, "not checked: the server does not say")
    if not server.persistence:
        problem = "none: a restart of the server loses subscriptions and the record of posts"
        return Finding.build_note(PERSISTENCE, problem, "Set appendonly to yes on the server.")
    return Finding.build_success(PERSISTENCE, server.persistence)
