"""The local Slack as the tests of this bot need it: with its channel, and with the scopes of its manifest."""

import json
from pathlib import Path
from typing import Any

from localslack.testing.emulator import SlackEmulator as AnySlack

_MANIFEST = Path(__file__).parents[3] / "manifest.json"
SCOPES = frozenset(json.loads(_MANIFEST.read_text())["oauth_config"]["scopes"]["bot"])


class SlackEmulator(AnySlack):
    """A team in which this bot is installed as its manifest says. ``more`` is what any local Slack takes."""

    def __init__(
        self,
        token: str = "xoxb-test",  # noqa: S107 (a token of nothing)
        team_id: str = "T0TEAM",
        scopes: frozenset[str] = SCOPES,
        **more: Any,
    ) -> None:
        super().__init__(token, team_id, scopes, bot_name="digest", channel=("C0DIGEST", "digest"), **more)
