"""Claude's thinking blocks: what signs them, and that a conversation brings them back as they were."""

import base64
import hashlib
import threading
from collections.abc import Iterator
from typing import Any

from tests.emulators.claude.errors import require
from tests.emulators.claude.limits import thinks
from tests.emulators.claude.request import contents

THOUGHT = "Weighing the request."


def thought_of(message: str) -> dict[str, str]:
    """The thinking block of the message with this id; no other message has its signature."""
    signature = base64.b64encode(hashlib.sha256(message.encode()).digest()).decode()
    return {"type": "thinking", "thinking": THOUGHT, "signature": signature}


class Thoughts:
    """The thinking blocks that were given, by their signature and by the tool calls that they led to."""

    def __init__(self) -> None:
        self._by_signature: dict[str, dict[str, str]] = {}
        self._by_call: dict[str, dict[str, str]] = {}
        self._lock = threading.Lock()

    def remember(self, content: list[dict[str, Any]]) -> None:
        thought = content[0] if content else {}
        if thought.get("type") != "thinking":
            return
        with self._lock:
            self._by_signature[thought["signature"]] = thought
            calls = [block["id"] for block in content if block["type"] == "tool_use"]
            self._by_call.update(dict.fromkeys(calls, thought))

    def check(self, body: dict[str, Any]) -> None:
        """Refuse thoughts that were not given, that were changed, or that a tool loop left out."""
        with self._lock:
            for place, block in _thinking_blocks(body):
                self._check_block(block, place)
            if thinks(body):
                self._check_answered(body["messages"])

    def _check_block(self, block: dict[str, Any], place: str) -> None:
        original = self._by_signature.get(str(block.get("signature")))
        require(original is not None, f"{place}: Invalid `signature` in `thinking` block")
        require(not block.get("cache_control"), f"{place}: `thinking` blocks cannot be marked with cache_control")
        require(
            _same(block, original),
            f"{place}: `thinking` blocks cannot be modified. They must remain as they were.",
        )

    def _check_answered(self, turns: list[dict[str, Any]]) -> None:
        """The turn whose calls the last turn answers begins with the thought that led to them."""
        answered = [block.get("tool_use_id") for block in contents(turns[-1]["content"])]
        thought = next((self._by_call[call] for call in answered if call in self._by_call), None)
        if thought is None:
            return
        first, place = contents(turns[-2]["content"])[0], f"messages.{len(turns) - 2}.content.0"
        block_type = first["type"]
        require(
            block_type == "thinking",
            f"{place}.type: Expected `thinking`, but found `{block_type}`: a turn with `tool_use` "
            "blocks that are being answered must start with its thinking block.",
        )
        require(
            _same(first, thought),
            f"{place}: `thinking` blocks in the latest assistant message cannot be modified.",
        )


def _same(block: dict[str, Any], original: dict[str, str] | None) -> bool:
    # a client may add fields that say nothing, such as a null
    return {key: value for key, value in block.items() if value is not None} == original


def _thinking_blocks(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for turn_place, turn in enumerate(body["messages"]):
        for place, block in enumerate(contents(turn["content"])):
            if block.get("type") == "thinking":
                yield f"messages.{turn_place}.content.{place}", block
