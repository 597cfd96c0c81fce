"""Tools that a model may call: their schemas, and calls whose arguments come from the model.

Every result is fenced data that cannot forge its fence. A call that fails returns a sentence, so that the model
can correct it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.domain.errors import PrdigestError, StoreUnavailable
from bot.domain.text.strings import quote_input
from bot.services.summaries.prompts import fence_text
from bot.services.summaries.schemas import CompactSchema

log = logging.getLogger(__name__)


class ToolArguments(BaseModel):
    """Base of the schemas, with the description of the tool. The model gets an error for an unknown field."""

    description: ClassVar[str]

    model_config = ConfigDict(frozen=True, extra="forbid")


def format_unknown_tool(name: str, known: Iterable[str]) -> str:
    """Return that there is no such tool, and which there are."""
    return f"There is no tool {quote_input(name)}: use {', '.join(known)}."


def format_excess_call(limit: int) -> str:
    """Return that a turn called more tools than ``limit``."""
    return f"Use up to {limit} tools at a time."


@cache
def build_tool_schema(shape: type[ToolArguments]) -> dict[str, Any]:
    """Return the JSON schema of the arguments, as the service expects it, without a description of its own."""
    schema = shape.model_json_schema(schema_generator=CompactSchema)
    schema.pop("description", None)
    return schema


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """The result of a tool for the model."""

    text: str
    is_error: bool = False


class ModelTools:
    """The tools of one piece of work, by their names: each with its arguments, and what runs it.

    ``explain`` returns a sentence for an error.
    """

    def __init__(
        self,
        tools: Mapping[str, tuple[type[ToolArguments], Callable[[Any], str]]],
        explain: Callable[[PrdigestError], str],
    ) -> None:
        self._tools = tools
        self._explain = explain

    @property
    def definitions(self) -> tuple[Mapping[str, Any], ...]:
        """The tools as the service expects them; the same for all work of a kind, so that its cache has them."""
        return tuple(
            {"name": name, "description": shape.description, "input_schema": build_tool_schema(shape)}
            for name, (shape, _) in self._tools.items()
        )

    def run_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """Run a tool. An invalid call returns a sentence.

        Raises StoreUnavailable: without the store, the result of the work could not be saved either.
        """
        if name not in self._tools:
            return ToolOutput(format_unknown_tool(name, self._tools), is_error=True)
        shape, tool = self._tools[name]
        try:
            text = tool(shape.model_validate(arguments))
        except ValidationError as error:
            problems = (f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()[:3])
            return ToolOutput("; ".join(problems), is_error=True)
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log.info("a tool could not answer: %s", error)
            return ToolOutput(self._explain(error), is_error=True)
        except Exception:
            log.exception("a defect in the tool %s", name)
            return ToolOutput("This tool failed: answer without it, and say so.", is_error=True)
        return ToolOutput(fence_text("data", text))
