"""``/prrisks [date]``: what was taken back on a day, and what deserves a second look."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from handlers.commands import Commands, answered

_HELP = "Ask for the risky changes of a day: `/prrisks`, `/prrisks today` or `/prrisks 2026-02-28`."


def register(app: App, commands: Commands) -> None:
    """Listen to the command."""

    @app.command("/prrisks")
    def prrisks(ack: Ack, command: dict[str, Any]) -> None:
        def accept(text: str) -> str:
            day = commands.day(text)
            commands.risks.send(command["response_url"], *commands.schedule.digest_of(day))
            return f"Looking at {day.date}…"

        answered(ack, command, _HELP, accept)
