"""Restores what an earlier version left in its store and in Slack."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from localslack.state.identity import APP_ID, BOT_ID
from redis import Redis

from tests.emulators.slack.server import SlackEmulator

DUMP = Path(__file__).parents[1] / "data" / "store-6336eb6"
EXPORT = DUMP / "export.jsonl"
_SLACK = "http://slack.local"
# more than were given out on that day: Slack gives none of them a second time
_IDS_USED = 100
# characters from which a value of an export is compressed in the store
_COMPRESSED_FROM = 1_000

Json = dict[str, Any]


def read_lines(path: Path, slack_url: str = _SLACK) -> list[Json]:
    """Return the lines of a file, with the address of a Slack in the place of the one that is gone."""
    return [json.loads(line) for line in path.read_text().replace(_SLACK, slack_url).splitlines()]


def read_export() -> list[Json]:
    """Return the records of the export, without its first and last line."""
    return read_lines(EXPORT)[1:-1]


def read_last_moment() -> datetime:
    """Return the instant at which the store was left (aware)."""
    return datetime.fromisoformat(read_lines(DUMP / "slack.jsonl")[0]["now"])


def restore_store(store: Redis, slack_url: str) -> None:
    """Write every key as it was: bytes, and the time that it has to live."""
    for record in read_export():
        _write_key(store, record["key"], record["type"], _pack_export(record))
    for key in read_lines(DUMP / "other-keys.jsonl", slack_url):
        _write_key(store, key["key"], key["type"], _pack(key["value"]))
        if key["ttl"] >= 0:
            store.expire(key["key"], key["ttl"])


def restore_slack(slack: SlackEmulator) -> None:
    """Put the people, channels and messages of that day into a team."""
    people, *facts = read_lines(DUMP / "slack.jsonl", slack.url)
    for person in people["people"]:
        slack.set_person(person["id"], name=person["name"], tz=person["tz"])
    for fact in facts:
        if channel := fact.get("channel"):
            where = {name: channel[name] for name in ("member", "archived", "private", "shared")}
            slack.add_channel(channel["id"], channel["name"], **where)
        elif message := fact.get("message"):
            # Slack lets an app edit its own messages alone, and the local Slack's app has another id today
            own = {"bot_id": BOT_ID, "app_id": APP_ID} if "bot_id" in message else {}
            slack.get_channel(fact["in"]).messages.append({**message, **own})
        else:
            slack.workspace.ephemerals.append(fact["ephemeral"])
    for _ in range(_IDS_USED):
        slack.make_trigger_id()
        slack.make_id("Ev")


def _write_key(store: Redis, key: str, kind: str, value: Any) -> None:
    match kind:
        case "string":
            store.set(key, value)
        case "hash":
            store.hset(key, mapping=value)
        case "list":
            store.rpush(key, *value)
        case "zset":
            store.zadd(key, value)


def _pack_export(record: Mapping[str, Any]) -> Any:
    """Return a record's value as it is in the store: texts packed, the members of sorted sets bare."""
    if record["type"] == "zset":
        return record["value"]
    marked = {True: "z", False: "p"}
    return _each_text(
        record["value"], lambda text: _bytes_of(marked[len(text.encode()) >= _COMPRESSED_FROM] + text)
    )


def _pack(value: Any) -> Any:
    return value if isinstance(value, dict) and _is_scored(value) else _each_text(value, _bytes_of)


def _is_scored(value: Mapping[str, Any]) -> bool:
    return all(isinstance(score, float | int) for score in value.values())


def _each_text(value: Any, pack: Callable[[str], bytes]) -> Any:
    if isinstance(value, str):
        return pack(value)
    if isinstance(value, list):
        return [pack(text) for text in value]
    return {name: pack(text) for name, text in value.items()}


def _bytes_of(text: str) -> bytes:
    return b"z" + zlib.compress(text[1:].encode()) if text.startswith("z") else text.encode()
