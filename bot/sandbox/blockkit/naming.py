"""Names for what has none: Slack gives them to blocks and to what can be used in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]
_USED_IN = frozenset({"section", "actions", "context_actions", "input"})


def named(blocks: Sequence[Json]) -> list[dict[str, Any]]:
    """The blocks with names for those without one, and for what is in them: the local Slack gives the same."""
    return [_named(block, place) for place, block in enumerate(blocks)]


def _named(block: Json, place: int) -> dict[str, Any]:
    found = {"block_id": f"block{place}", **block}
    if found.get("type") not in _USED_IN:
        return found
    several = enumerate(found.get("elements") or ())
    own = {key: _called(found[key], 0) for key in ("accessory", "element") if isinstance(found.get(key), Mapping)}
    return {**found, "elements": [_called(element, number) for number, element in several], **own}


def _called(element: Json, number: int) -> Json:
    return {"action_id": f"action{number}", **element} if isinstance(element, Mapping) else {}
