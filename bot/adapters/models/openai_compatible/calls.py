"""Tool calls of a turn, put together from their parts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from bot.adapters.models.openai_compatible.errors import WrongService
from bot.adapters.models.openai_compatible.replies import CallDelta
from bot.ports import ToolCall

# a model is allowed some calls in a turn; the others get an error as their result
_MAX_CALLS = 64
_MAX_ARGUMENTS_LENGTH = 200_000
_MAX_NAME_LENGTH = 200
# no tool has such an argument: the model reads as the error of its call what was wrong with it
MALFORMED = "these arguments, which are no JSON object"


@dataclass
class _OpenCall:
    """A call as far as it has come."""

    id: str
    name: str
    parts: list[str] = field(default_factory=list)
    length: int = 0

    def add_arguments(self, part: str) -> None:
        """Add a part of the arguments. Raises WrongService if they get too long."""
        self.parts.append(part)
        self.length += len(part)
        if self.length > _MAX_ARGUMENTS_LENGTH:
            raise WrongService

    @property
    def arguments(self) -> str:
        """The arguments as far as they have come."""
        return "".join(self.parts)


class CallAssembler:
    """Assembler of the calls of one turn. Every method raises WrongService for parts that make no call."""

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []
        self._by_index: dict[int, _OpenCall] = {}

    def add_delta(self, delta: CallDelta) -> None:
        """Add a part of a call. The first part has its name; arguments follow in pieces.

        Some servers give all calls the same index: another id with another name is another call.
        """
        name = delta.function.name if delta.function else None
        call = self._by_index.get(delta.index)
        if call is None or (name and delta.id and delta.id != call.id):
            call = self._open_call(delta, name or "")
        elif name and name != call.name:
            raise WrongService
        call.add_arguments((delta.function.arguments or "") if delta.function else "")

    def _open_call(self, delta: CallDelta, name: str) -> _OpenCall:
        """Open a call, whose index is the next one or that of the last."""
        number = len(self._calls)
        is_in_order = delta.index in self._by_index or delta.index == len(self._by_index)
        if not is_in_order or not 0 < len(name) <= _MAX_NAME_LENGTH or number >= _MAX_CALLS:
            raise WrongService
        call = _OpenCall(self._choose_id(delta.id, number), name)
        self._calls.append(call)
        self._by_index[delta.index] = call
        return call

    def _choose_id(self, proposed: str | None, number: int) -> str:
        """Return the id of a call: the server's, or one of ours if that is missing, too long or not unique."""
        used_ids = {each.id for each in self._calls}
        is_usable = proposed and len(proposed) <= _MAX_NAME_LENGTH and proposed not in used_ids
        return str(proposed) if is_usable else f"call_{number}"

    def list_calls(self) -> list[ToolCall]:
        """List the calls, in order. Malformed arguments become an error for the model."""
        return [ToolCall(call.id, call.name, _parse_arguments(call.arguments)) for call in self._calls]

    def dump_calls(self) -> list[dict[str, Any]]:
        """Return the calls in the format in which they go back to the server.

        Malformed arguments do not: templates parse them, and would refuse the whole conversation.
        """
        return [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": "{}" if MALFORMED in _parse_arguments(call.arguments) else call.arguments or "{}",
                },
            }
            for call in self._calls
        ]


def _parse_arguments(text: str) -> dict[str, Any]:
    """Return arguments as the model wrote them; no text means none."""
    try:
        value = json.loads(text or "{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {MALFORMED: True}


def _refuse_constant(name: str) -> None:
    """Raise ValueError for NaN and the like, which are not JSON."""
    raise ValueError(name)
