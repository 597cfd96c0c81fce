"""The modal with a task for a coding agent, as text to copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.domain.pull_requests.reference import Reference
from bot.render.blocks.rich_text import (
    Block,
    make_block,
    make_context,
    make_plain_text,
    make_preformatted,
    make_section,
    make_text,
)
from bot.render.conversations.notices import describe_error
from bot.render.digest.touches import TASK_LABEL
from bot.render.summaries.sentences import CLOSE_LABEL
from bot.render.touches import sentences

View = dict[str, Any]

# Slack takes 3,000 characters in most texts, and documents no limit for this one
_MAX_PIECE = 2_900
# of all pieces: far below the 250,000 characters of a view, and what an agent reads
_MAX_PIECES = 12


def render_task_view(text: str) -> View:
    """Render the window with a task. What is too long is cut, and says so."""
    pieces = list(split_text(text))
    blocks = [make_block(make_preformatted(piece)) for piece in pieces[:_MAX_PIECES]]
    notes = [sentences.TASK_NOTE, *([sentences.TASK_CUT] if len(pieces) > _MAX_PIECES else [])]
    return _build_view([make_context(" ".join(notes)), *blocks])


def render_preparing_view(reference: Reference) -> View:
    """Render the window for the time while the task is prepared."""
    return _build_view([make_block(make_section([make_text(sentences.format_preparing(reference))]))])


def render_task_error(error: Exception, reference: str) -> View:
    """Render the window for an error, with the reference that is in the log too."""
    return _build_view([make_block(make_section([make_text(describe_error(error, reference))]))])


def split_text(text: str) -> Iterator[str]:
    """Yield a text in pieces of whole lines; only a line that is longer than a piece is split."""
    piece: list[str] = []
    length = 0
    for line in text.rstrip("\n").split("\n"):
        parts = [line[at : at + _MAX_PIECE] for at in range(0, len(line), _MAX_PIECE)] or [""]
        for part in parts:
            if piece and length + len(part) + 1 > _MAX_PIECE:
                yield "\n".join(piece)
                piece, length = [], 0
            piece.append(part)
            length += len(part) + 1
    if piece:
        yield "\n".join(piece)


def _build_view(blocks: list[Block]) -> View:
    return {
        "type": "modal",
        "title": make_plain_text(TASK_LABEL, 24),
        "close": make_plain_text(CLOSE_LABEL, 24),
        "blocks": blocks,
    }
