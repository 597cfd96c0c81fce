"""The slash commands."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from bot.domain.text.redaction import without_secrets
from handlers import requests
from handlers.commands import digest, risks, summary
from handlers.intake import Accept, Desk


def register(app: App, desk: Desk) -> None:
    """Listen to the commands."""

    def listen(command_name: str, usage: str, accept: Accept, *, needs_text: bool = False) -> None:
        @app.command(command_name)
        def answer(ack: Ack, command: dict[str, Any]) -> None:
            visit, text = requests.of_command(command), without_secrets(str(command.get("text") or "").strip())
            asks_for_help = text.lower() == "help" or (needs_text and not text)
            ack(desk.answer(visit, lambda: usage if asks_for_help else accept(desk, visit, text)))

    listen("/prsummary", summary.USAGE, summary.accept, needs_text=True)
    listen("/prrisks", risks.USAGE, risks.accept)
    listen("/prdigest", digest.USAGE, digest.accept)
