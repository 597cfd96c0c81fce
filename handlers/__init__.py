"""Slack in. Parse, check, enqueue, acknowledge; no rule of the product lives here."""

from __future__ import annotations

from slack_bolt import App

from handlers import actions, messages, welcomes
from handlers.commands import registry, subscriptions
from handlers.commands.registry import COMMANDS, CommandRegistry
from handlers.intake import RequestIntake

__all__ = ["COMMANDS", "CommandRegistry", "RequestIntake", "register"]


def register(app: App, intake: RequestIntake, commands: CommandRegistry) -> None:
    """Put every listener into the app."""
    registry.register(app, intake, commands)
    messages.register(app, intake, commands)
    subscriptions.register(app, intake)
    welcomes.register(app, intake)
    actions.register(app, intake, commands)
