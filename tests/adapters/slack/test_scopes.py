"""The scopes that the code knows are those of the manifest."""

from __future__ import annotations

import json

from bot.adapters.slack.scopes import SCOPES
from tests.emulators.slack.server import SCOPES as GIVEN
from tests.helpers.command import ROOT


def test_the_manifest_asks_for_exactly_these_scopes_in_order() -> None:
    manifest = json.loads((ROOT / "manifest.json").read_text())
    assert manifest["oauth_config"]["scopes"]["bot"] == sorted(SCOPES)


def test_the_local_slack_gives_what_the_manifest_asks_for_and_no_more() -> None:
    assert sorted(GIVEN) == sorted(SCOPES)


def test_every_kind_of_conversation_is_heard_that_may_be_read() -> None:
    manifest = json.loads((ROOT / "manifest.json").read_text())
    events = manifest["settings"]["event_subscriptions"]["bot_events"]
    heard = {event.removeprefix("message.") for event in events if event.startswith("message.")}
    assert heard == {scope.removesuffix(":history") for scope in SCOPES if scope.endswith(":history")}
