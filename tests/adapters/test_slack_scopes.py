"""The scopes that the code knows are those of the manifest."""

from __future__ import annotations

import json

from bot.adapters.slack_scopes import SCOPES
from tests.command import ROOT


def test_the_manifest_asks_for_exactly_these_scopes_in_order() -> None:
    manifest = json.loads((ROOT / "manifest.json").read_text())
    assert manifest["oauth_config"]["scopes"]["bot"] == sorted(SCOPES)
