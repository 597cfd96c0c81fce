"""Holds ``manifest.json``, which Slack reads, against the commands and shortcuts that are declared."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from handlers.declaration import Command, Commands
from handlers.summaries import SHORTCUTS, Shortcut

# what the installer of the app puts in its place
_URL = "https://your-host.example/slack/events"


def find_faults(
    manifest: Mapping[str, Any], commands: Commands, shortcuts: Sequence[Shortcut] = SHORTCUTS
) -> list[str]:
    declared_commands = {command.name: entry_of(command) for command in commands}
    declared = {shortcut.callback_id: shortcut_entry_of(shortcut) for shortcut in shortcuts}
    listed = {each["command"]: each for each in manifest["features"]["slash_commands"]}
    offered = {each["callback_id"]: each for each in manifest["features"]["shortcuts"]}
    return [
        *_find_differences("slash_commands", listed, declared_commands),
        *_find_differences("shortcuts", offered, declared),
    ]


def _find_differences(place: str, listed: Mapping[str, Any], declared: Mapping[str, Any]) -> Iterator[str]:
    for name, entry in declared.items():
        written = json.dumps(entry, ensure_ascii=False)
        if name not in listed:
            yield f"manifest.json lacks {name}: add {written} to {place}."
        elif listed[name] != entry:
            yield f"manifest.json says other things of {name} than its declaration: write {written}."
    for name in listed.keys() - declared.keys():
        yield f"manifest.json names {name}, which is not declared: take it out of {place}."


def entry_of(command: Command) -> dict[str, Any]:
    return {
        "command": command.name,
        "url": _URL,
        "description": command.description,
        "usage_hint": command.hint,
        "should_escape": False,
    }


def shortcut_entry_of(shortcut: Shortcut) -> dict[str, Any]:
    return {
        "name": shortcut.name,
        "type": shortcut.kind,
        "callback_id": shortcut.callback_id,
        "description": shortcut.description,
    }
