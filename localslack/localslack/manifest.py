"""The manifest of a Slack app, as far as the local Slack follows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from localslack.methods.registry import ALL_SCOPES

Json = Mapping[str, Any]
_BOT = "bot"


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A slash command as Slack shows it to whoever types a slash."""

    name: str
    hint: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the app is called, its slash commands, the scopes of its bot, and whether it has a Home tab."""

    name: str = _BOT
    commands: tuple[SlashCommand, ...] = ()
    scopes: frozenset[str] = ALL_SCOPES
    has_home: bool = True


def read_manifest(text: str) -> Manifest:
    """Return what the JSON of a manifest says. Raises ValueError, with one sentence, where it is none."""
    try:
        found = json.loads(text)
        return Manifest(
            _read_name(found),
            tuple(map(_read_command, _get_section(found, "features").get("slash_commands", ()))),
            frozenset(_get_section(found, "oauth_config", "scopes").get("bot", ALL_SCOPES)),
            bool(_get_section(found, "features", "app_home").get("home_tab_enabled", False)),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError("This is no manifest of a Slack app in JSON.") from error


def _read_name(manifest: Json) -> str:
    """Return what mentions name: the bot; an app without one is called as Slack shows the app."""
    own = _get_section(manifest, "features", "bot_user").get("display_name")
    return str(own or _get_section(manifest, "display_information").get("name") or _BOT)


def _read_command(command: Json) -> SlashCommand:
    name = str(command["command"])
    return SlashCommand(name, str(command.get("usage_hint") or ""), str(command.get("description") or ""))


def _get_section(manifest: Json, *path: str) -> Json:
    """Return the object at the path; an empty one where the manifest does not say it."""
    for name in path:
        manifest = manifest.get(name) or {}
    return manifest
