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
        text = command.get("text", "").strip()

        def accept() -> str:
            if text == "help":
                return _HELP
            day, plan = commands.day(text), commands.schedule
            commands.risks.send(
                command["response_url"], str(plan.repository), str(day.date), str(plan.zone), plan.name
            )
            return f"Looking at {day.date}…"

        answered(ack, accept)
