"""Check of the store's memory, for the doctor and for App Home."""

from __future__ import annotations

from bot.domain.operations.finding import Finding
from bot.ports.probes import Server

MEMORY = "Store memory"
# part of maxmemory
_FULL = 0.9
_MEGABYTE = 1_000_000


def check_memory(server: Server) -> Finding:
    """Check how much of its memory the store uses. The finding says what to do before it is full."""
    used = f"{server.used / _MEGABYTE:,.1f}"
    if not server.limit:
        return Finding.ok(MEMORY, f"{used} MB used, no limit")
    usage = f"{used} of {server.limit / _MEGABYTE:,.1f} MB used"
    # with another policy the server frees memory by dropping cached values
    if server.policy == "noeviction" and server.used > _FULL * server.limit:
        advice = "Raise maxmemory of the server, or set maxmemory-policy to volatile-lru, before writes fail."
        return Finding.failed(MEMORY, usage, advice)
    return Finding.ok(MEMORY, usage)
