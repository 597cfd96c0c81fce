"""What the Slack app asks for beyond ``manifest.json``: for features that are off unless somebody wants them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

Manifest = dict[str, Any]

# each scope with what does not work without it
PREVIEW_SCOPES = {
    "links:read": "the bot is not told of links, so none gets a preview",
    "links:write": "links get no preview",
}
LINK_EVENT, STEP_EVENT = "link_shared", "function_executed"


def _describe_text(title: str, description: str) -> Manifest:
    return {"type": "string", "title": title, "description": description}


_CHANNEL = {"type": "slack#/types/channel_id", "title": "Channel", "description": "A channel that the bot is in"}
# by the names that events have; no name is ever changed. The form is that of version 2 of manifests
_STEPS: Mapping[str, Manifest] = {
    "post_digest": {
        "title": "Post the digest",
        "description": "Post the digest of a day in a channel, or find it there",
        "input_parameters": {
            "properties": {
                "channel_id": _CHANNEL,
                "day": _describe_text("Day", "2026-02-28; yesterday if it is empty"),
                "repository": _describe_text("Repository", "owner/name; the usual one if it is empty"),
            },
            "required": ["channel_id"],
        },
        "output_parameters": {
            "properties": {"link": _describe_text("Link", "The address of the digest")},
            "required": ["link"],
        },
    },
    "ask_prdigest": {
        "title": "Ask prdigest",
        "description": "Answer a question about pull requests",
        "input_parameters": {
            "properties": {
                "question": _describe_text("Question", "What was reverted yesterday?"),
                "channel_id": _CHANNEL,
            },
            "required": ["question", "channel_id"],
        },
        "output_parameters": {
            "properties": {"answer": _describe_text("Answer", "The answer as text")},
            "required": ["answer"],
        },
    },
}


def add_previews(manifest: Manifest, domain: str) -> Manifest:
    """Return a manifest that also asks for what previews of the links of a domain need."""
    added = copy.deepcopy(manifest)
    features = added["features"]
    features["unfurl_domains"] = sorted({*features.get("unfurl_domains", ()), domain})
    _extend(added["oauth_config"]["scopes"], "bot", PREVIEW_SCOPES)
    _extend(added["settings"]["event_subscriptions"], "bot_events", (LINK_EVENT,))
    return added


def _extend(section: Manifest, name: str, more: Iterable[str]) -> None:
    """Add texts to a sorted list."""
    section[name] = sorted({*section[name], *more})


def add_steps(manifest: Manifest) -> Manifest:
    """Return a manifest that also offers the steps for Workflow Builder, which paid plans have."""
    added = copy.deepcopy(manifest)
    added["functions"] = copy.deepcopy(dict(_STEPS))
    settings = added["settings"]
    # Slack shows steps of an app that runs them itself only if its whole organisation may install it
    settings["org_deploy_enabled"] = True
    settings["function_runtime"] = "remote"
    _extend(settings["event_subscriptions"], "bot_events", (STEP_EVENT,))
    return added
