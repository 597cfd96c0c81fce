"""What the Slack app asks for beyond ``manifest.json``: for features that are off unless somebody wants them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from bot.domain.operations.workflow_steps import STEPS, StepField, WorkflowStep

Manifest = dict[str, Any]

# each scope with what does not work without it
PREVIEW_SCOPES = {
    "links:read": "the bot is not told of links, so none gets a preview",
    "links:write": "links get no preview",
}
LINK_EVENT, STEP_EVENT = "link_shared", "function_executed"


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
    added["functions"] = {step.name.value: _describe_step(step) for step in STEPS.values()}
    settings = added["settings"]
    # Slack shows steps of an app that runs them itself only if its whole organisation may install it
    settings["org_deploy_enabled"] = True
    settings["function_runtime"] = "remote"
    _extend(settings["event_subscriptions"], "bot_events", (STEP_EVENT,))
    return added


def _describe_step(step: WorkflowStep) -> Manifest:
    """Return a step in the form of version 2 of manifests."""
    return {
        "title": step.title,
        "description": step.description,
        "input_parameters": _describe_fields(step.inputs, step.required),
        "output_parameters": _describe_fields(step.outputs, step.outputs),
    }


def _describe_fields(fields: Sequence[StepField], required: Sequence[StepField]) -> Manifest:
    """Return what a step is given, or what it returns."""
    properties = {
        each.name: {"type": each.type, "title": each.title, "description": each.description} for each in fields
    }
    return {"properties": properties, "required": [each.name for each in required]}
