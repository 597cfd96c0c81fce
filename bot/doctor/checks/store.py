"""Checks of the store: that it answers, accepts writes, and keeps them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from datetime import datetime, timedelta

from bot.doctor.checks.failures import failure
from bot.domain.errors import PrdigestError, StoreUnavailable
from bot.domain.operations.finding import Finding, Status
from bot.ports.probes import Records, Server, StoreProbe
from bot.services.operations.store_memory import MEMORY, check_memory

STORE = "Store"
_DETAILS = ("Store policy", MEMORY, "Store persistence", "Store writes", "Store schema")
POLICY, _, PERSISTENCE, WRITES, SCHEMA = _DETAILS


def store_checks(
    opened: Callable[[], Records] | str, place: str, now: Callable[[], datetime]
) -> Generator[Finding, None, tuple[Records | str, timedelta | None]]:
    """Check the store.

    Return its records, or the reason why it can't be used, and how far its clock is ahead of ours. ``opened``
    returns the records, or is the reason why there are none. ``place`` is the address to show.
    """
    if isinstance(opened, str):
        yield Finding.note(STORE, opened)
        return f"see {STORE} above", None
    try:
        records = opened()
        server = records.probe.server()
        ahead = server.time - now()
    except PrdigestError as error:
        yield failure(STORE, error)
        yield from (Finding.unchecked(name, f"see {STORE} above") for name in _DETAILS)
        return f"see {STORE} above", None
    yield Finding.ok(STORE, f"{place} answers")
    yield from _details(records.probe, server)
    schema = _tried(SCHEMA, records.probe.schema)
    yield schema
    return (f"see {SCHEMA} above" if schema.status is Status.FAILED else records), ahead


def _details(probe: StoreProbe, server: Server) -> Iterator[Finding]:
    """Yield the findings about a store that answers."""
    yield _tried(POLICY, lambda: _durable(probe, server))
    yield check_memory(server)
    yield _persistence(server)
    yield _tried(WRITES, lambda: _written(probe))


def _tried(name: str, act: Callable[[], str]) -> Finding:
    """Return the finding about an action that the store may refuse; ``act`` returns the detail to show."""
    try:
        return Finding.ok(name, act())
    except StoreUnavailable as error:
        return Finding.failed(name, "refused", str(error))


def _durable(probe: StoreProbe, server: Server) -> str:
    """Check that the store drops no permanent records. Raises StoreUnavailable."""
    probe.require_durable()
    return f"{server.policy}: nothing is dropped that has to stay"


def _written(probe: StoreProbe) -> str:
    """Write to the store. Raises StoreUnavailable."""
    probe.write()
    return "taken"


def _persistence(server: Server) -> Finding:
    """Return the finding about what survives a restart of the server."""
    if server.keeps is None:
        return Finding.note(PERSISTENCE, "not checked: the server does not tell")
    if not server.keeps:
        problem = "none: a restart of the server forgets subscriptions and what was posted"
        return Finding.note(PERSISTENCE, problem, "Set appendonly to yes on the server.")
    return Finding.ok(PERSISTENCE, server.keeps)
