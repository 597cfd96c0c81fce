"""A preview of pasted blocks: as Slack shows them, or Slack's reason to refuse them."""

from __future__ import annotations

import json
from typing import Any

from localslack.blockkit import Names, render_message, render_view
from localslack.methods.views import VIEW
from localslack.rules.messages import check_message, find_blocks_fault
from localslack.rules.schema import Fault, find_fault
from localslack.state.element_values import ElementState, add_default_ids, get_initial_settings

_NO_JSON = "This is no JSON ({}): paste a list of blocks, a message or a view."


class Preview:
    """A renderer of what the methods of the Web API accept."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def render_json(self, text: str) -> dict[str, str]:
        """Return ``html``, or an ``error`` as a sentence with Slack's code."""
        try:
            value = json.loads(text)
        except ValueError as error:
            return {"error": _NO_JSON.format(error)}
        except RecursionError:
            return {"error": _NO_JSON.format("too deep")}
        if isinstance(value, dict) and value.get("type") in ("modal", "home"):
            return self._render_view(value)
        message = {"blocks": value} if isinstance(value, list) else value
        if not isinstance(message, dict):
            return {"error": _NO_JSON.format("neither a list nor an object")}
        if refusal := check_message(message):
            fault = find_blocks_fault(message) if refusal == "invalid_blocks" else None
            return {"error": _format_refusal(refusal, fault)}
        blocks = add_default_ids(message.get("blocks") or [])
        shown = {"type": "message", "ts": "0", **message, "blocks": blocks}
        return {"html": str(render_message(shown, self._names))}

    def _render_view(self, view: dict[str, Any]) -> dict[str, str]:
        if not VIEW(view):
            return {"error": _format_refusal("invalid_arguments", find_fault(VIEW, view))}
        blocks = add_default_ids(view["blocks"])
        state = ElementState(settings=get_initial_settings(blocks, None)).state
        return {
            "html": str(render_view({**view, "id": "VPREVIEW", "blocks": blocks, "state": state}, self._names))
        }


def _format_refusal(code: str, fault: Fault | None) -> str:
    """Return Slack's error code and, if it is known, the place and the problem."""
    return f"Slack would refuse it: {code}" + (
        f" \N{EM DASH} {fault.pointer or '/'} {fault.problem}." if fault else ""
    )
