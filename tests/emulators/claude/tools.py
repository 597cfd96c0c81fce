import json
import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tests.emulators.claude.errors import require
from tests.emulators.claude.schema import check_schema
from tests.emulators.claude.script import ToolUse, ToolUses, mismatch

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
# the shapes of `tool_choice`: what each may hold besides its type
CHOICES: dict[str, frozenset[str]] = {
    "auto": frozenset({"disable_parallel_tool_use"}),
    "any": frozenset({"disable_parallel_tool_use"}),
    "tool": frozenset({"name", "disable_parallel_tool_use"}),
    "none": frozenset(),
}


def check_tools(body: dict[str, Any]) -> None:
    """Refuse what the service refuses in ``tools`` and ``tool_choice``."""
    tools = body.get("tools") or []
    require(isinstance(tools, list), "tools: Input should be a valid list")
    for place, tool in enumerate(tools):
        _check_tool(tool, f"tools.{place}.custom")
    names = [tool["name"] for tool in tools]
    require(len(set(names)) == len(names), "tools: Tool names must be unique.")
    if body.get("tool_choice") is not None:
        _check_choice(body["tool_choice"], names)


def _check_tool(tool: dict[str, Any], place: str) -> None:
    name, schema = tool.get("name"), tool.get("input_schema")
    named = isinstance(name, str) and NAME.fullmatch(name)
    require(named, f"{place}.name: String should match pattern '^{NAME.pattern}$'")
    # the service does without a description, though the model does not do well
    require(isinstance(tool.get("description", ""), str), f"{place}.description: Input should be a valid string")
    require(isinstance(schema, dict), f"{place}.input_schema: Field required")
    _check_input_schema(schema or {}, f"{place}.input_schema")
    require(isinstance(tool.get("strict", False), bool), f"{place}.strict: Input should be a valid boolean")
    if tool.get("strict"):
        check_schema(schema or {}, f"{place}.input_schema")


def _check_input_schema(schema: dict[str, Any], place: str) -> None:
    require(schema.get("type") == "object", f"{place}.type: Input should be 'object'")
    branched = {"oneOf", "allOf", "anyOf"} & set(schema)
    require(not branched, f"{place}: input_schema does not support oneOf, allOf, or anyOf at the top level")
    problem = _find_schema_problem(json.dumps(schema))
    require(not problem, f"{place}: JSON schema is invalid: {problem}")


@cache
def _find_schema_problem(schema: str) -> str:
    """Return why a text is no schema, empty if it is one. The same few tools come with each request."""
    try:
        Draft202012Validator.check_schema(json.loads(schema))
    except SchemaError as error:
        return error.message
    return ""


def _check_choice(choice: dict[str, Any], names: list[str]) -> None:
    require(names, "tool_choice may only be specified while providing tools")
    kind = choice.get("type")
    require(kind in CHOICES, f"tool_choice: type {kind!r} is none of {sorted(CHOICES)}")
    extra = set(choice) - {"type"} - CHOICES[str(kind)]
    require(not extra, f"tool_choice.{kind}: Extra inputs are not permitted: {sorted(extra)}")
    known = kind != "tool" or choice.get("name") in names
    require(known, f"tool_choice: Tool {choice.get('name')!r} not found in provided tools")


def check_calls(step: ToolUse | ToolUses, body: dict[str, Any]) -> None:
    """Raise AssertionError if no model could make the scripted calls in answer to this request.

    ``lenient`` lets a model be wrong about names and inputs; nothing lets it call what it was not given.
    """
    tools = {tool["name"]: tool for tool in body.get("tools") or []}
    _agree(step.calls, "a step that calls tools needs a call")
    _agree(tools, "a tool is called, but the request has no tools")
    _check_allowed(step, body.get("tool_choice") or {"type": "auto"})
    for name, arguments in () if step.lenient else step.calls:
        _agree(name in tools, f"the request has no tool {name!r}, only {sorted(tools)}")
        wrong = mismatch(arguments, tools[name]["input_schema"])
        _agree(not wrong, f"the input of {name!r} does not match its schema: {wrong}")


def _check_allowed(step: ToolUse | ToolUses, choice: dict[str, Any]) -> None:
    _agree(choice["type"] != "none", "a tool is called, but tool_choice is none")
    other = [name for name, _ in step.calls if choice["type"] == "tool" and name != choice["name"]]
    _agree(not other, f"{other} is called, but tool_choice is {choice.get('name')!r}")
    single = choice.get("disable_parallel_tool_use", False)
    _agree(len(step.calls) == 1 or not single, "several calls, but disable_parallel_tool_use is set")


def _agree(condition: object, message: str) -> None:
    if not condition:
        raise AssertionError(message)
