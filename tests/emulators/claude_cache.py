"""Claude's prompt cache, and the input side of a request's ``usage``."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import Any

from tests.emulators.claude_request import CHARACTERS_PER_TOKEN, blocks

# shorter prefixes are not cached; 512 to 4,096 by model, here one figure for all
CACHE_MINIMUM = 1024
# how many blocks before a breakpoint are compared with the cache
CACHE_LOOKBACK = 20


def _characters(block: dict[str, Any]) -> str:
    if block.get("type") == "text":
        return str(block["text"])
    return json.dumps({key: value for key, value in block.items() if key != "cache_control"}, sort_keys=True)


class PromptCache:
    """Which prefixes were seen before. Entries never expire here; the service keeps them 5 minutes or an hour."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def usage(self, body: dict[str, Any]) -> dict[str, Any]:
        """The input side of ``usage``; remembers the marked prefixes."""
        found = blocks(body)
        marks = [place for place, block in enumerate(found) if "cache_control" in block]
        marks += [len(found) - 1] if "cache_control" in body else []
        tokens, names = _prefixes(body, found)
        with self._lock:
            read = max((tokens[place] for mark in marks for place in self._hits(names, mark)), default=0)
            usable = [mark for mark in marks if tokens[mark] >= CACHE_MINIMUM]
            self._seen |= {names[mark] for mark in usable}
        written = max([tokens[mark] - read for mark in usable] + [0])
        return _input_usage(tokens[-1] - read - written, read, written, hour=_hourly(body, found, usable))

    def _hits(self, names: list[str], mark: int) -> list[int]:
        return [place for place in range(max(0, mark - CACHE_LOOKBACK), mark + 1) if names[place] in self._seen]


def _prefixes(body: dict[str, Any], found: list[dict[str, Any]]) -> tuple[list[int], list[str]]:
    """Tokens and a name for the prompt up to and with each block; caches are per model."""
    digest, size = hashlib.sha256(body["model"].encode()), 0
    tokens, names = [], []
    for block in found:
        text = _characters(block)
        size += len(text)
        digest.update(f"\0{text}".encode())
        tokens.append(size // CHARACTERS_PER_TOKEN)
        names.append(digest.hexdigest())
    return tokens, names


def _hourly(body: dict[str, Any], found: list[dict[str, Any]], usable: list[int]) -> bool:
    marked = [found[mark].get("cache_control") or body.get("cache_control") or {} for mark in usable]
    return bool(marked) and marked[-1].get("ttl") == "1h"


def _input_usage(fresh: int, read: int, written: int, *, hour: bool) -> dict[str, Any]:
    by_life = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
    by_life["ephemeral_1h_input_tokens" if hour else "ephemeral_5m_input_tokens"] = written
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "cache_creation": by_life,
    }
