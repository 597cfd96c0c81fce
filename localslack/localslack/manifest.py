"""The manifest of a Slack app, as far as the local Slack uses it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from localslack.methods.agents import PROMPTS
from localslack.methods.registry import ALL_SCOPES
from localslack.rules.schema import string
from localslack.state.agents import AGENT_SCOPE, STOP_EVENT

Json = Mapping[str, Any]
_BOT = "bot"
# how many shortcuts a manifest may have, and the characters of a name, which others have met and no page says
_MAX_SHORTCUTS, _MAX_SHORTCUT_NAME = 10, 24
LINK_EVENT, STEP_EVENT = "link_shared", "function_executed"
# others have met the limit
_DESCRIPTION = string(300)


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A slash command as Slack shows it to a person who types a slash."""

    name: str
    hint: str = ""
    description: str = ""


class ShortcutKind(StrEnum):
    """Where Slack shows a shortcut: beside the box to type in, or in the menu of each message."""

    GLOBAL = "global"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A shortcut, by the callback id that the app gets, with the name that Slack shows."""

    callback_id: str
    name: str
    kind: ShortcutKind


@dataclass(frozen=True, slots=True)
class AgentView:
    """An app that is an agent: the prompts above its direct messages, and whether it hears who stops it."""

    prompts: tuple[dict[str, str], ...] = ()
    hears_stop: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """The app's name, its commands and shortcuts, the scopes of its bot, and whether it has a Home tab.

    ``unfurl_domains`` are those whose links it hears of: none unless it asks for the event ``link_shared``.
    ``steps`` are its steps of workflows by callback_id: none unless it runs them itself and asks for
    ``function_executed``. ``agent`` is None unless it is declared as an agent, which adds a scope.
    """

    name: str = _BOT
    commands: tuple[SlashCommand, ...] = ()
    scopes: frozenset[str] = ALL_SCOPES
    has_home: bool = True
    shortcuts: tuple[Shortcut, ...] = ()
    unfurl_domains: frozenset[str] = frozenset()
    steps: Json = field(default_factory=dict)
    agent: AgentView | None = None


def read_manifest(text: str) -> Manifest:
    """Parse a manifest in JSON. Raises ValueError, with one sentence, if it is not a manifest."""
    try:
        manifest = json.loads(text)
        agent = _read_agent(manifest)
        scopes = frozenset(_get_section(manifest, "oauth_config", "scopes").get("bot", ALL_SCOPES))
        return Manifest(
            _read_name(manifest),
            tuple(map(_read_command, _get_section(manifest, "features").get("slash_commands", ()))),
            scopes | ({AGENT_SCOPE} if agent else frozenset()),
            bool(_get_section(manifest, "features", "app_home").get("home_tab_enabled", False)),
            _read_shortcuts(_get_section(manifest, "features").get("shortcuts", ())),
            _read_domains(manifest),
            _read_steps(manifest),
            agent,
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError("The file is not a Slack app manifest in JSON.") from error


def _read_name(manifest: Json) -> str:
    """Return the bot's display name, or the app's name if the bot has none, as Slack does."""
    own = _get_section(manifest, "features", "bot_user").get("display_name")
    return str(own or _get_section(manifest, "display_information").get("name") or _BOT)


def _read_domains(manifest: Json) -> frozenset[str]:
    """Return the domains whose links the app is told of."""
    events = _get_section(manifest, "settings", "event_subscriptions").get("bot_events", ())
    domains = _get_section(manifest, "features").get("unfurl_domains", ())
    return frozenset(str(domain).lower() for domain in domains) if LINK_EVENT in events else frozenset()


def _read_steps(manifest: Json) -> Json:
    """Return the steps of workflows that the app runs."""
    settings = _get_section(manifest, "settings")
    events = _get_section(settings, "event_subscriptions").get("bot_events", ())
    is_run = settings.get("function_runtime") == "remote" and settings.get("org_deploy_enabled") is True
    return dict(_get_section(manifest, "functions")) if is_run and STEP_EVENT in events else {}


def _read_agent(manifest: Json) -> AgentView | None:
    """Return what the app is as an agent. Raises ValueError for what Slack does not take."""
    features = _get_section(manifest, "features")
    if "agent_view" not in features:
        return None
    view = features["agent_view"]
    prompts = view.get("suggested_prompts") or []
    # a page says that an app has one of the two
    if "assistant_view" in features or not _DESCRIPTION(view["agent_description"]):
        raise ValueError("more than Slack takes")
    if prompts and not PROMPTS(prompts):
        raise ValueError("more than Slack takes")
    events = _get_section(manifest, "settings", "event_subscriptions").get("bot_events", ())
    return AgentView(tuple(prompts), STOP_EVENT in events)


def _read_command(command: Json) -> SlashCommand:
    name = str(command["command"])
    return SlashCommand(name, str(command.get("usage_hint") or ""), str(command.get("description") or ""))


def _read_shortcuts(shortcuts: Sequence[Json]) -> tuple[Shortcut, ...]:
    """Parse the shortcuts. Raises ValueError for what Slack does not take: too many, too long, of another kind."""
    if len(shortcuts) > _MAX_SHORTCUTS or any(len(each["name"]) > _MAX_SHORTCUT_NAME for each in shortcuts):
        raise ValueError("more than Slack takes")
    return tuple(
        Shortcut(str(each["callback_id"]), str(each["name"]), ShortcutKind(each["type"])) for each in shortcuts
    )


def _get_section(manifest: Json, *path: str) -> Json:
    """Return the object at the path, or an empty one where the manifest has none."""
    for name in path:
        manifest = manifest.get(name) or {}
    return manifest
