"""Check of the store's memory, for the doctor and for App Home."""

from __future__ import annotations

from bot.domain.operations.finding import Finding
from bot.platform.store.server import ServerStatus

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
