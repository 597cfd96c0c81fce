"""A deterministic agent: it adapts a team's fork to a changed signature, from nothing but what the tools say."""

import ast
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.types import CallToolResult

from tests.helpers.processes.command import environment

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
            if touch["change"]["kind"] == "signature" and touch["level"] == "breaks":
                changed += await _adapt_calls(call, fork, hit["pr"], touch)
    return changed


async def _adapt_calls(call: ToolCaller, fork: Path, number: int, touch: dict[str, Any]) -> list[str]:
    """Give each call of a function the arguments that upstream's own callers got."""
    full = touch["change"]["name"]
    name = full.rpartition(".")[2]
    contract = await _call(call, "contract_changes", {"number": number, "name": full})
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


# returns the items that a tool gives for arguments
Ask = Callable[[str, dict[str, Any]], Awaitable[list[dict[str, Any]]]]


async def ask_server(call: ToolCaller, tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    page = await _call(call, tool, arguments)
    assert (page["schema"], page["not_read"]) == (1, None)
    # a tool that judges says who did
    assert (" A type checker judged beside the rules, in " in page["about"]) == (tool != "uses_by_kind")
    return list(page["items"])


async def ask_program(clones: Path, tool: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """Ask the command line for the same."""
    command, shown = {
        "judge_commits": (["touches", arguments.get("range", "")], "commits"),
        "commit_guide": (["guide", f"--from={arguments.get('base')}", arguments.get("commit", "")], "guides"),
        "uses_by_kind": (["uses", "--kind=override", f"--from={arguments.get('base')}"], "uses"),
    }[tool]
    sides = ("--upstream", clones / "engine", "--downstream", clones / "plugin", "--at", arguments["at"])
    line = [sys.executable, "-m", "impact", *command, *map(str, sides)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False, env=environment())
    if done.returncode:
        raise NotAdapted(done.stderr)
    document = json.loads(done.stdout)
    assert (document["schema"], document["not_read"]) == (1, None)
    items = document[shown]
    return [*items.values()] if isinstance(items, dict) else items


@dataclass
class SyncAgent:
    """Adapts a fork at the commit ``at`` to a range of commits, one after the other, by their rows and guides."""

    ask: Ask
    fork: Path
    at: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    guided: list[int] = field(default_factory=list)
    changed: list[tuple[str, int]] = field(default_factory=list)
    reasons: dict[tuple[str, int], str] = field(default_factory=dict)
    overrides: list[tuple[str, str]] = field(default_factory=list)
    advice: str = ""

    async def adapt(self, commits: str) -> None:
        base = commits.partition("..")[0]
        uses = await self.ask("uses_by_kind", {"kinds": ["override"], "at": self.at, "base": base})
        self.overrides = [(use["name"], use["why"]) for use in uses]
        self.rows = await self.ask("judge_commits", {"range": commits, "at": self.at})
        for row in self.rows:
            if row["level"] is None:
                raise NotAdapted(row["not_read"])
            if row["level"] == "no" or row["reverted_by"]:
                continue
            (guide,) = await self.ask("commit_guide", {"commit": row["commit"], "at": self.at, "base": base})
            self.guided.append(guide["pr"])
            self.advice = self.advice or guide["advice"]
            for touch in guide["touches"]:
                self._adapt_touch(touch, guide["migrations"])

    def _adapt_touch(self, touch: dict[str, Any], migrations: list[dict[str, Any]]) -> None:
        old, new = touch["change"]["name"], touch["change"]["new_name"]
        name = old.rpartition(".")[2]
        for use in touch["uses"]:
            file, line = self.fork / use["path"], use["line"]
            self.reasons[use["path"], line] = use["why"]
            if touch["change"]["kind"] == "signature" and use["kind"] == "calls":
                (each,) = (each for each in migrations if each["name"] == old)
                before, after = (_list_arguments(each[side], name) for side in ("before", "after"))
                _add_arguments(file, line, name, after[len(before) :])
            elif new and use["kind"] == "imports":
                _import_from(file, line, name, new)
            else:
                continue
            self.changed.append((use["path"], line))


def _import_from(file: Path, line: int, name: str, new: str) -> None:
    """Import a name from where it is now, under the name that the file uses."""
    lines = file.read_text().splitlines()
    (statement,) = ast.parse(lines[line - 1]).body
    assert isinstance(statement, ast.ImportFrom)
    module, _, new_name = new.rpartition(".")
    kept = [ast.unparse(each) for each in statement.names if each.name != name]
    imported = f"from {module} import {new_name}{f' as {name}' if new_name != name else ''}"
    lines[line - 1] = "; ".join(
        [*([f"from {statement.module} import {', '.join(kept)}"] if kept else []), imported]
    )
    file.write_text("\n".join(lines) + "\n")


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
