"""How Claude reads a request's body: its blocks in order, the schema it wants, and how many tokens text is."""

from typing import Any

CHARACTERS_PER_TOKEN = 4


def blocks(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Tools, system blocks and message blocks in the order in which the cache reads them."""
    all_blocks = [*(body.get("tools") or []), *contents(body.get("system"))]
    for turn in body.get("messages", []):
        all_blocks += contents(turn.get("content"))
    return all_blocks


def contents(value: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": value}] if isinstance(value, str) else list(value or [])


def schema_of(body: dict[str, Any]) -> dict[str, Any] | None:
    schema = ((body.get("output_config") or {}).get("format") or {}).get("schema")
    return schema if isinstance(schema, dict) else None
