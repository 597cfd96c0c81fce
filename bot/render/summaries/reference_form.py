"""The form that asks for a pull request, and what somebody entered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.render.blocks.rich_text import make_plain_text
from bot.render.summaries import sentences

FORM = "reference_form"
REFERENCE = "reference"
_MAX_LENGTH = 500


def render_reference_form() -> dict[str, Any]:
    """Render the form."""
    element = {
        "type": "plain_text_input",
        "action_id": REFERENCE,
        "max_length": _MAX_LENGTH,
        "focus_on_load": True,
        "placeholder": make_plain_text(sentences.REFERENCE_PLACEHOLDER, 150),
    }
    field = {
        "type": "input",
        "block_id": REFERENCE,
        "label": make_plain_text(sentences.REFERENCE_LABEL, 75),
        "hint": make_plain_text(sentences.REFERENCE_HINT, 150),
        "element": element,
    }
    return {
        "type": "modal",
        "callback_id": FORM,
        "title": make_plain_text(sentences.REFERENCE_TITLE, 24),
        "submit": make_plain_text(sentences.EXPLAIN_LABEL, 24),
        "close": make_plain_text(sentences.CLOSE_LABEL, 24),
        "blocks": [field],
    }


def read_reference_text(view: Mapping[str, Any]) -> str:
    """Return what somebody entered; empty for a form without it."""
    field = view["state"]["values"].get(REFERENCE, {}).get(REFERENCE, {})
    return str(field.get("value") or "")
