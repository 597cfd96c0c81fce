"""``/prdigest [date]``: the digest of a day in this channel, once."""

from __future__ import annotations

from typing import Any

from slack_bolt import Ack, App

from bot.domain.errors import UsageError
from handlers.commands import Commands, answered

_HELP = "Post the digest of a day here: `/prdigest` for yesterday's, or `/prdigest 2026-02-28`."


def register(app: App, commands: Commands) -> None:
    """Listen to the command."""

    @app.command("/prdigest")
    def prdigest(ack: Ack, command: dict[str, Any]) -> None:
        def accept(text: str) -> str:
            day = commands.day(text)
            if day.end > commands.now():
                raise UsageError(f"{day.date} is not over: its digest is posted the day after.")
            digest = commands.schedule.digest_of(day)
            commands.digest.send(command["channel_id"], *digest, command["response_url"])
            return f"The digest of {day.date} will be here in a minute, if it is not yet."

        answered(ack, command, _HELP, accept)
