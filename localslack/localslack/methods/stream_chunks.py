"""The pieces of a stream: which of them Slack accepts, and its errors for the others."""

from __future__ import annotations

from typing import Any

from localslack.errors import SlackError, raise_error
from localslack.rules.blocks import MARKDOWN_TEXT, UNLIMITED, parse_blocks
from localslack.rules.elements import IDENTIFIER
from localslack.rules.messages import check_blocks
from localslack.rules.schema import is_link_url, items, one_of, one_of_types, shape, string
from localslack.state.streams import StreamContent
from localslack.state.workspace import Json

STREAM_BLOCKS = 50  # in chunks, not counting those at the end of a stream
LINE = string(256)
SOURCE = one_of_types({"url": shape({"url": is_link_url, "text": LINE})})
CHUNK = one_of_types(
    {
        "markdown_text": shape({"text": string(2**31, 0)}),  # too long a text has its own error
        "task_update": shape(
            {"id": IDENTIFIER, "title": LINE, "status": one_of("pending", "in_progress", "complete", "error")},
            details=LINE,
            output=LINE,
            sources=items(SOURCE, 0, UNLIMITED),
        ),
        "plan_update": shape({"title": LINE}),
        "blocks": shape({"blocks": items(lambda block: isinstance(block, dict), 1, STREAM_BLOCKS)}),
    }
)


def get_mode(arguments: Json) -> str | None:
    """Return the name of the argument that has content, ``markdown_text`` or ``chunks``."""
    return next((name for name in ("markdown_text", "chunks") if arguments.get(name)), None)


def read_content(arguments: Json, mode: str | None) -> StreamContent:
    """Return the content of a call to a stream of this mode; a stream keeps the mode of its first piece.

    The mode and its two errors are not in the documentation's text; many people have met them.
    """
    raise_error(
        "cannot_provide_both_markdown_text_and_chunks" if {"markdown_text", "chunks"} <= {*arguments} else None
    )
    own = get_mode(arguments)
    raise_error("streaming_mode_mismatch" if own and mode and own != mode else None)
    content = StreamContent(str(arguments.get("markdown_text") or ""))
    for chunk in _read_chunks(arguments):
        content += _convert_chunk(chunk)
    raise_error("msg_too_long" if len(content.text) > MARKDOWN_TEXT else None)
    return content


def check_content(content: StreamContent) -> str | None:
    """Return Slack's error code for the whole of a stream so far.

    That 12,000 characters are the limit of a whole message, and not only of a call, is the cautious reading: the
    documentation does not say it, and some have measured it.
    """
    if content.length > MARKDOWN_TEXT:
        return "msg_too_long"
    above = StreamContent(content.text, content.plan, content.tasks).shown
    return check_blocks(list(content.blocks), above)


def _read_chunks(arguments: Json) -> list[Any]:
    try:
        chunks = parse_blocks(arguments.get("chunks"))
    except ValueError:
        raise SlackError("invalid_chunks") from None
    raise_error(None if all(map(CHUNK, chunks)) else "invalid_chunks")
    return chunks


def _convert_chunk(chunk: Json) -> StreamContent:
    kind = chunk["type"]
    if kind == "markdown_text":
        return StreamContent(chunk["text"])
    if kind == "plan_update":
        return StreamContent(plan=chunk["title"])
    if kind == "blocks":
        return StreamContent(blocks=tuple(chunk["blocks"]))
    rest = {key: value for key, value in chunk.items() if key not in {"type", "id"}}
    return StreamContent(tasks=({"type": "task_card", "task_id": chunk["id"], **rest},), begins_with_tasks=True)
