"""A deterministic agent: it adapts a team's fork to a changed signature, from nothing but what the tools say."""

import ast
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp.types import CallToolResult

# calls a tool by its name with arguments
ToolCaller = Callable[[str, dict[str, Any]], Awaitable[CallToolResult]]


class NotAdapted(Exception):
    """A step at which the tools did not say enough."""


async def adapt_fork(call: ToolCaller, fork: Path, days: str) -> list[str]:
    """Adapt each broken call of the fork; return the lines that were changed, as ``path:line``."""
    touches = await _call(call, "touches", {"days": days})
    changed = []
    for hit in touches["items"]:
        for touch in hit["touches"]:
            if touch["kind"] == "signature" and touch["level"] == "breaks":
                changed += await _adapt_calls(call, fork, hit["number"], touch)
    return changed


async def _adapt_calls(call: ToolCaller, fork: Path, number: int, touch: dict[str, Any]) -> list[str]:
    """Give each call of a function the arguments that upstream's own callers got."""
    name = touch["name"].rpartition(".")[2]
    contract = await _call(call, "contract_changes", {"number": number, "name": touch["name"]})
    new = await _find_new_arguments(call, number, name, contract["items"])
    changed = []
    for use in touch["uses"]:
        if use["kind"] == "calls":
            _add_arguments(fork / use["path"], use["line"], name, new)
            changed.append(f"{use['path']}:{use['line']}")
    return changed


async def _find_new_arguments(call: ToolCaller, number: int, name: str, items: list[dict[str, Any]]) -> list[str]:
    """Return the sources of the arguments that a caller of upstream's own got, which its diff shows, too."""
    for item in items:
        for migration in item["migrations"]:
            before, after = (_list_arguments(migration[side], name) for side in ("before", "after"))
            part = await call("read_diff", {"number": number, "paths": [migration["path"]], "contains": name})
            if len(after) > len(before) and f"+    {migration['after'].strip()}" in part.content[0].text:  # type: ignore[union-attr]
                return after[len(before) :]
    raise NotAdapted(f"no caller of {name} shows its new arguments")


def _list_arguments(line: str, name: str) -> list[str]:
    tree = ast.parse(line.strip().removeprefix("return "))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == name)
    return [ast.unparse(each) for node in calls for each in node.args]


def _add_arguments(file: Path, line: int, name: str, new: list[str]) -> None:
    """Add arguments to the calls of a function in one line of a file."""
    lines = file.read_text().splitlines()
    indent = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
    returns = "return " if lines[line - 1].strip().startswith("return ") else ""
    tree = ast.parse(lines[line - 1].strip().removeprefix("return "))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name:
            node.args += [ast.parse(each, mode="eval").body for each in new]
    lines[line - 1] = f"{indent}{returns}{ast.unparse(tree)}"
    file.write_text("\n".join(lines) + "\n")


async def _call(call: ToolCaller, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await call(name, arguments)
    if result.is_error:
        raise NotAdapted(result.content[0].text)  # type: ignore[union-attr]
    page: dict[str, Any] = result.structured_content
    while page["next_offset"] is not None:
        more = (await call(name, {**arguments, "offset": page["next_offset"]})).structured_content
        page = {**more, "items": [*page["items"], *more["items"]]}
    return page
