"""Tools that a model may call: their schemas, and calls whose arguments come from the model.

Every result is fenced data that cannot forge its fence. A call that fails returns a sentence, so that the model
can correct it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from bot.errors import DayUnavailable, PrdigestError, StoreUnavailable
from bot.platform.models import ToolCall, ToolResult
from bot.platform.models.prompts import CompactSchema, fence_text
from bot.platform.slack.notices import explain_error
from impact.text.strings import quote_input

log = logging.getLogger(__name__)


class ToolArguments(BaseModel):
    """Base of the schemas, with the description of the tool. The model gets an error for an unknown field.

    Null for an argument counts as omitted: strict clients send it for each one that a model leaves out.
    """

    description: ClassVar[str]

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def omit_null(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        return {name: each for name, each in values.items() if each is not None or name not in cls.model_fields}


# by name: the arguments of each, and the function that gets them; it raises PrdigestError
Tools: TypeAlias = Mapping[str, tuple[type[ToolArguments], Callable[[Any], str]]]


def define_tools(tools: Tools) -> tuple[Mapping[str, Any], ...]:
    """Return the tools as the service expects them, the same for all work of a kind: its cache has them."""
    return tuple(
        {"name": name, "description": shape.description, "input_schema": build_tool_schema(shape)}
        for name, (shape, _) in tools.items()
    )


@cache
def build_tool_schema(shape: type[ToolArguments]) -> dict[str, Any]:
    """Return the JSON schema of the arguments, as the service expects it, without a description of its own."""
    schema = shape.model_json_schema(schema_generator=CompactSchema)
    schema.pop("description", None)
    return schema


def run_tool(tools: Tools, call: ToolCall) -> ToolResult:
    """Run a tool; an invalid call returns a sentence. Raises StoreUnavailable: no result could be saved either."""
    if call.name not in tools:
        return ToolResult(call.id, format_unknown_tool(call.name, tools), is_error=True)
    shape, tool = tools[call.name]
    try:
        text = tool(shape.model_validate(call.arguments))
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, item['loc']))}: {explain_problem(item)}" for item in error.errors()[:3])
        return ToolResult(call.id, "; ".join(problems), is_error=True)
    except StoreUnavailable:
        raise
    except PrdigestError as error:
        log.info("a tool could not answer: %s", error)
        return ToolResult(call.id, explain_failure(error), is_error=True)
    except Exception:
        log.exception("a defect in the tool %s", call.name)
        return ToolResult(call.id, "This tool failed: answer without it, and say so.", is_error=True)
    return ToolResult(call.id, fence_text("data", text))


def explain_problem(problem: Mapping[str, Any]) -> str:
    """Return what is wrong with an argument, by pydantic, without what it says."""
    is_null = problem["input"] is None and problem["type"] != "missing"
    return "Null is no value here: leave it out" if is_null else str(problem["msg"])


def format_unknown_tool(name: str, known: Iterable[str]) -> str:
    return f"There is no tool {quote_input(name)}: use {', '.join(known)}."


def explain_failure(error: PrdigestError) -> str:
    """Return what failed. Days that are not loaded must not pass for days without pull requests."""
    sentence = explain_error(error)
    if isinstance(error, DayUnavailable):
        # on a line of its own: the first one is for readers too
        return f"{sentence}\nNo day that you asked for is loaded: this is no proof that nothing was merged."
    return sentence


class ToolName(StrEnum):
    """A tool, by the name that models call it by."""

    LIST_PULL_REQUESTS = "list_pull_requests"
    SEARCH = "search"
    PULL_REQUEST = "pull_request"
    READ_DIFF = "read_diff"
    TAKEN_BACK = "taken_back"
    READ_FILE = "read_file"
    FIND_USES = "find_uses"
    READ_DISCUSSION = "read_discussion"
    FIND_PROFILE_USES = "find_profile_uses"
    LIST_CHANGES = "list_changes"
    FIND_REQUIREMENTS = "find_requirements"
    SEARCH_PACKAGE = "search_package"
    READ_PACKAGE = "read_package"
    WHERE_IS = "where_is"
