"""An answer of Claude as server-sent events, with the waits and the breaks that a step asks for."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from localslack.loopback import HangUp

from tests.emulators.claude.replies import Reply
from tests.emulators.claude.script import Cut, MidStreamError, Stall

# characters of one text event; the service sends a few words at a time
PIECE = 24
# what a block of each kind holds before its deltas
EMPTY: dict[str, dict[str, Any]] = {
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
    "text": {"text": ""},
}
# the end of a chunked body; a body without it was cut off
LAST_CHUNK = b"0\r\n\r\n"


@dataclass(frozen=True)
class Pause:
    """Nothing is sent for some seconds."""

    seconds: float


def chunk(event: bytes) -> bytes:
    """An event as one chunk of the body: only in chunks does a client see whether a stream ended or was cut."""
    return b"%x\r\n%s\r\n" % (len(event), event)


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def events(message: dict[str, Any], reply: Reply) -> Iterator[bytes | Pause]:
    """The events of one answer, from message_start to message_stop or to where it breaks off."""
    begun = {**message, "content": [], "stop_reason": None, "stop_details": None}
    yield _event("message_start", message={**begun, "usage": {**message["usage"], "output_tokens": 1}})
    yield _event("ping")
    for index, block in enumerate(reply.content):
        yield _event("content_block_start", index=index, content_block={**block, **EMPTY[block["type"]]})
        yield from _fill_block(index, block, reply.stall)
        # a break leaves the text open in which it falls
        if reply.broken_by is None or block["type"] != "text":
            yield _event("content_block_stop", index=index)
    yield from _ending(message, reply)


def _ending(message: dict[str, Any], reply: Reply) -> Iterator[bytes]:
    match reply.broken_by:
        case MidStreamError(_, kind):
            yield _event("error", error={"type": kind, "message": kind})
        case Cut(clean=False):
            raise HangUp
        case None:
            ended = {"stop_reason": reply.stop_reason, "stop_sequence": None, "stop_details": reply.stop_details}
            yield _event("message_delta", delta=ended, usage=_totals(message["usage"]))
            yield _event("message_stop")


def _totals(usage: dict[str, Any]) -> dict[str, Any]:
    """Usage as message_delta has it: what was used up to here, without the lives of the cache."""
    return {key: value for key, value in usage.items() if key != "cache_creation"}


def _fill_block(index: int, block: dict[str, Any], stall: Stall | None) -> Iterator[bytes | Pause]:
    """The deltas of one block; a stall falls into the text."""
    if stall is None or block["type"] != "text":
        yield from _deltas(index, block)
        return
    yield from _deltas(index, {"type": "text", "text": stall.text_before})
    part = Pause(stall.seconds / (stall.pings + 1))
    for _ in range(stall.pings):
        yield part
        yield _event("ping")
    yield part
    yield from _deltas(index, {"type": "text", "text": stall.rest})


def _deltas(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    return (_event("content_block_delta", index=index, delta=delta) for delta in _parts(block))


def _parts(block: dict[str, Any]) -> Iterator[dict[str, str]]:
    match block["type"]:
        case "thinking":
            yield {"type": "thinking_delta", "thinking": block["thinking"]}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use":
            pieces = _pieces(json.dumps(block["input"]))
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
        case _:
            yield from ({"type": "text_delta", "text": piece} for piece in _pieces(block["text"]))


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
