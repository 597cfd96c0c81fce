"""Slack in. Parse, check, enqueue, acknowledge; no rule of the product lives here."""

from __future__ import annotations

from slack_bolt import App

from handlers import prdigest, prrisks, prsummary
from handlers.commands import Commands

__all__ = ["Commands", "register"]


def register(app: App, commands: Commands) -> None:
    """Put every listener into the app."""
    for surface in (prsummary, prrisks, prdigest):
        surface.register(app, commands)

    # an event that nobody claims is a 404 to Slack, which sends it again and in the end stops sending any
    @app.event({"type": "message"})
    def message(ack: object) -> None:
        """Other people's messages are none of our business."""
