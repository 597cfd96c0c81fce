"""``/prsummary 35617``: one pull request, for the one who asks."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from handlers.commands import Commands, answered

_HELP = "Ask for a pull request: `/prsummary 35617`, `#35617`, `owner/repo#35617` or its address."


def register(app: App, commands: Commands) -> None:
    """Listen to the command."""

    @app.command("/prsummary")
    def prsummary(ack: Ack, command: dict[str, Any]) -> None:
        def accept(text: str) -> str:
            if not text:
                return _HELP
            found = commands.reference(text)
            commands.summary.send(command["response_url"], str(found.repository), found.number)
            return f"Looking at #{found.number}…"

        answered(ack, command, _HELP, accept)
