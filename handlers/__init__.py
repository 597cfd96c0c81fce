"""Slack in. Parse, check, enqueue, acknowledge; no rule of the product lives here."""

from __future__ import annotations

from slack_bolt import App

from handlers import actions, messages, welcomes
from handlers.commands import registry, subscriptions
from handlers.commands.registry import COMMANDS, CommandRegistry
from handlers.intake import RequestIntake

__all__ = ["COMMANDS", "CommandRegistry", "RequestIntake", "register_listeners"]


def register_listeners(app: App, intake: RequestIntake, commands: CommandRegistry) -> None:
    """Put every listener into the app."""
    registry.register_commands(app, intake, commands)
    messages.register_message_listeners(app, intake, commands)
    subscriptions.register_subscription_listeners(app, intake)
    welcomes.register_join_listener(app, intake)
    actions.register_actions(app, intake, commands)
