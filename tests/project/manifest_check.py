"""Holds ``manifest.json``, which Slack reads, against the commands that are declared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from handlers.commands.declaration import Command
from handlers.commands.registry import CommandRegistry

# what whoever installs the app puts in its place
_URL = "https://your-host.example/slack/events"


def find_faults(manifest: Mapping[str, Any], registry: CommandRegistry) -> list[str]:
    """Return what is wrong with the commands of a manifest, a sentence each that says what to do."""
    listed = {entry["command"]: entry for entry in manifest["features"]["slash_commands"]}
    declared = {command.name: entry_of(command) for command in registry.commands}
    return [*_find_wrong(listed, declared), *_find_unknown(listed, declared)]


def _find_wrong(listed: Mapping[str, Any], declared: Mapping[str, Any]) -> Iterator[str]:
    for name, entry in declared.items():
        written = json.dumps(entry, ensure_ascii=False)
        if name not in listed:
            yield f"manifest.json lacks {name}: add {written} to slash_commands."
        elif listed[name] != entry:
            yield f"manifest.json says other things of {name} than its declaration: write {written}."


def _find_unknown(listed: Mapping[str, Any], declared: Mapping[str, Any]) -> Iterator[str]:
    for name in listed.keys() - declared.keys():
        yield f"manifest.json names {name}, which is not declared: take it out of slash_commands."


def entry_of(command: Command[Any]) -> dict[str, Any]:
    """Return the entry of a command."""
    return {
        "command": command.name,
        "url": _URL,
        "description": command.description,
        "usage_hint": command.hint,
        "should_escape": False,
    }
