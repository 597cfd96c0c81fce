import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.emulators.claude.marks import LIVES, Mark, marks_of
from tests.emulators.claude.request import CHARACTERS_PER_TOKEN, blocks, contents, schema_of

# shorter prefixes are not cached; 512 to 4,096 by model, here one figure for all
CACHE_MINIMUM = 1024
# how many blocks before a breakpoint are compared with the cache
CACHE_LOOKBACK = 20


def _characters(block: dict[str, Any]) -> str:
    if block.get("type") == "text":
        return str(block["text"])
    return json.dumps({key: value for key, value in block.items() if key != "cache_control"}, sort_keys=True)


@dataclass
class _Entry:
    """A prefix that is kept until ``until``; each read gives it its whole life again."""

    life: float
    until: float


class PromptCache:
    """Which prefixes were seen before, and are not yet forgotten."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.Lock()

    def usage(self, body: dict[str, Any]) -> dict[str, Any]:
        """The input side of ``usage``; remembers the marked prefixes."""
        marks = marks_of(body)
        tokens, names = _prefixes(body)
        usable = [mark for mark in marks if tokens[mark.place] >= CACHE_MINIMUM]
        with self._lock:
            now = self._clock()
            self._entries = {name: entry for name, entry in self._entries.items() if now < entry.until}
            known = {place for place, name in enumerate(names) if name in self._entries}
            read = max(
                (place for mark in marks for place in known if 0 <= mark.place - place <= CACHE_LOOKBACK),
                default=-1,
            )
            # who reads a prefix reads the shorter ones in it
            self._renew([names[place] for place in known if place <= read], now)
            self._write([(names[mark.place], mark.ttl) for mark in usable if mark.place not in known], now)
        return _input_usage(tokens, usable, tokens[read] if read >= 0 else 0)

    def _renew(self, names: list[str], now: float) -> None:
        for name in names:
            self._entries[name].until = now + self._entries[name].life

    def _write(self, prefixes: list[tuple[str, str]], now: float) -> None:
        self._entries.update({name: _Entry(LIVES[ttl], now + LIVES[ttl]) for name, ttl in prefixes})


def _prefixes(body: dict[str, Any]) -> tuple[list[int], list[str]]:
    """Tokens and a name for the prompt up to and with each block; caches are per model."""
    digest, size = hashlib.sha256(body["model"].encode()), 0
    tokens, names = [], []
    messages_begin = len(body.get("tools") or []) + len(contents(body.get("system")))
    for place, block in enumerate(blocks(body)):
        if place == messages_begin:
            digest.update(_manner(body).encode())
        text = _characters(block)
        size += len(text)
        digest.update(f"\0{text}".encode())
        tokens.append(size // CHARACTERS_PER_TOKEN)
        names.append(digest.hexdigest())
    return tokens, names


def _manner(body: dict[str, Any]) -> str:
    settings = [body.get("tool_choice") or {"type": "auto"}, body.get("thinking"), schema_of(body)]
    return json.dumps(settings, sort_keys=True)


def _input_usage(tokens: list[int], usable: list[Mark], read: int) -> dict[str, Any]:
    """Each part that is not read is written by the mark that ends it; what no mark ends is fresh."""
    written, edge = dict.fromkeys(LIVES, 0), read
    for mark in usable:
        written[mark.ttl] += max(0, tokens[mark.place] - edge)
        edge = max(edge, tokens[mark.place])
    return {
        "input_tokens": tokens[-1] - edge,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": edge - read,
        "cache_creation": {f"ephemeral_{ttl}_input_tokens": count for ttl, count in written.items()},
    }
