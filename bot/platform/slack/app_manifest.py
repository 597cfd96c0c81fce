"""What the Slack app asks for beyond ``manifest.json``: for features that are off unless somebody wants them."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

Manifest = dict[str, Any]

# each scope with what does not work without it
PREVIEW_SCOPES = {
    "links:read": "the bot is not told of links, so none gets a preview",
    "links:write": "links get no preview",
}
LINK_EVENT = "link_shared"
# Slack adds the scope to an app that is declared as an agent: which one has it, is one
AGENT_SCOPES = {
    "assistant:write": "no prompts are shown in direct messages, and answers have no button to stop them"
}
SLACKBOT_SCOPES = {"mcp:connect": "Slackbot can't call the bot's tools"}
STOP_EVENT = "agent_session_stopped"
_AGENT_DESCRIPTION = "Ask what was merged, what is risky and what breaks your code, with links to the code."


def add_previews(manifest: Manifest, domain: str) -> Manifest:
    added = copy.deepcopy(manifest)
    features = added["features"]
    features["unfurl_domains"] = sorted({*features.get("unfurl_domains", ()), domain})
    _extend(added["oauth_config"]["scopes"], "bot", PREVIEW_SCOPES)
    _extend(added["settings"]["event_subscriptions"], "bot_events", (LINK_EVENT,))
    return added


def add_agent_view(manifest: Manifest) -> Manifest:
    """Return the manifest of an app that is an agent. Slack takes no step back from that."""
    added = copy.deepcopy(manifest)
    added["features"]["agent_view"] = {"agent_description": _AGENT_DESCRIPTION}
    _extend(added["oauth_config"]["scopes"], "bot", AGENT_SCOPES)
    _extend(added["settings"]["event_subscriptions"], "bot_events", (STOP_EVENT,))
    return added


def add_slackbot(manifest: Manifest, address: str) -> Manifest:
    """Return the manifest of an app whose tools Slackbot may call, by requests that Slack signs."""
    added = copy.deepcopy(manifest)
    added["mcp_servers"] = {"prdigest": {"url": address, "auth_type": "slack_identity_auth"}}
    _extend(added["oauth_config"]["scopes"], "bot", SLACKBOT_SCOPES)
    return added


def _extend(section: Manifest, name: str, more: Iterable[str]) -> None:
    section[name] = sorted({*section[name], *more})
