"""What the local Slack reads in an app's manifest."""

import json
from typing import Any

import pytest

from localslack.manifest import Manifest, Shortcut, ShortcutKind, SlashCommand, read_manifest
from localslack.methods.registry import ALL_SCOPES


def test_a_manifest_names_the_bot_its_commands_and_its_scopes() -> None:
    command = {"command": "/hello", "usage_hint": "[name]", "description": "Say hello", "url": "https://a.example"}
    manifest = read_manifest(
        json.dumps(
            {
                "display_information": {"name": "Greeter"},
                "features": {
                    "bot_user": {"display_name": "greeter"},
                    "slash_commands": [command, {"command": "/bye"}],
                    "app_home": {"home_tab_enabled": True},
                },
                "oauth_config": {"scopes": {"bot": ["chat:write"]}},
            }
        )
    )
    commands = (SlashCommand("/hello", "[name]", "Say hello"), SlashCommand("/bye"))
    assert manifest == Manifest("greeter", commands, frozenset({"chat:write"}), has_home=True)


def entry(**fields: Any) -> dict[str, Any]:
    return {"name": "Explain", "callback_id": "explain", "description": "x", "type": "message", **fields}


def test_a_manifest_names_shortcuts_of_both_kinds() -> None:
    manifest = read_manifest(json.dumps({"features": {"shortcuts": [entry(), entry(type="global")]}}))
    assert manifest.shortcuts == (
        Shortcut("explain", "Explain", ShortcutKind.MESSAGE),
        Shortcut("explain", "Explain", ShortcutKind.GLOBAL),
    )


@pytest.mark.parametrize(
    "shortcuts", [[entry(type="other")], [{"name": "x"}], [entry()] * 11, [entry(name="x" * 25)], 7]
)
def test_shortcuts_that_slack_would_refuse_are_refused(shortcuts: Any) -> None:
    with pytest.raises(ValueError, match="not a Slack app manifest"):
        read_manifest(json.dumps({"features": {"shortcuts": shortcuts}}))


@pytest.mark.parametrize(
    ("manifest", "name"),
    [({}, "bot"), ({"display_information": {"name": "Greeter"}, "features": None}, "Greeter")],
)
def test_what_a_manifest_does_not_say_has_a_default(manifest: dict[str, Any], name: str) -> None:
    assert read_manifest(json.dumps(manifest)) == Manifest(name, (), ALL_SCOPES, has_home=False)


@pytest.mark.parametrize(("events", "domains"), [(["link_shared"], {"git.example"}), (["app_mention"], set())])
def test_links_are_told_of_only_with_their_event(events: list[str], domains: set[str]) -> None:
    manifest = {
        "features": {"unfurl_domains": ["Git.example"]},
        "settings": {"event_subscriptions": {"bot_events": events}},
    }
    assert read_manifest(json.dumps(manifest)).unfurl_domains == domains
