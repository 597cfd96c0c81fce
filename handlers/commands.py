"""The slash commands."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from bot.domain.secrets import without_secrets
from handlers import prdigest, prrisks, prsummary, visits
from handlers.desk import Accept, Desk


def register(app: App, desk: Desk) -> None:
    """Listen to the commands."""

    def listen(command_name: str, usage: str, accept: Accept, *, needs_text: bool = False) -> None:
        @app.command(command_name)
        def answer(ack: Ack, command: dict[str, Any]) -> None:
            visit, text = visits.of_command(command), without_secrets(str(command.get("text") or "").strip())
            asks_for_help = text.lower() == "help" or (needs_text and not text)
            ack(desk.answer(visit, lambda: usage if asks_for_help else accept(desk, visit, text)))

    listen("/prsummary", prsummary.USAGE, prsummary.accept, needs_text=True)
    listen("/prrisks", prrisks.USAGE, prrisks.accept)
    listen("/prdigest", prdigest.USAGE, prdigest.accept)
