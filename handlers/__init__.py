"""Slack in. Parse, check, enqueue, acknowledge; no rule of the product lives here."""

from __future__ import annotations

from slack_bolt import App

from handlers import actions, messages, welcomes
from handlers.commands import registry, subscriptions
from handlers.intake import Desk, Queues

__all__ = ["Desk", "Queues", "register"]


def register(app: App, desk: Desk) -> None:
    """Put every listener into the app."""
    for surface in (registry, messages, subscriptions, welcomes, actions):
        surface.register(app, desk)
