from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.emulators.claude.errors import require
from tests.emulators.claude.request import blocks

BREAKPOINT_LIMIT = 4
# seconds that an entry lives after it was last read, by `ttl`
LIVES = {"5m": 300.0, "1h": 3600.0}


@dataclass(frozen=True)
class Mark:
    """A breakpoint after the block at ``place``; ``ttl`` says how long the prefix is kept."""

    place: int
    ttl: str


def _controls(body: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Every ``cache_control`` with the block that it stands for; the request's own stands for the last block."""
    all_blocks = blocks(body)
    marked = [
        (place, block["cache_control"]) for place, block in enumerate(all_blocks) if block.get("cache_control")
    ]
    return marked + ([(len(all_blocks) - 1, body["cache_control"])] if body.get("cache_control") else [])


def marks_of(body: dict[str, Any]) -> list[Mark]:
    return [Mark(place, control.get("ttl") or "5m") for place, control in _controls(body)]


def check_marks(body: dict[str, Any]) -> None:
    """Refuse marks that are too many, of no known kind, or a long life after a short one."""
    for _, control in _controls(body):
        require(control.get("type") == "ephemeral", "cache_control.type: Input should be 'ephemeral'")
        require(control.get("ttl") in {None, *LIVES}, "cache_control.ttl: Input should be '5m' or '1h'")
    marks = marks_of(body)
    count = len(marks)
    require(count <= BREAKPOINT_LIMIT, f"A maximum of 4 blocks with cache_control may be provided. Found {count}.")
    ordered = all(LIVES[before.ttl] >= LIVES[after.ttl] for before, after in pairwise(marks))
    late = "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."
    require(ordered, f"{late} Blocks are processed in the order `tools`, `system`, `messages`.")
