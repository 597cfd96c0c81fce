"""Entry of requests from Slack: parse, check, enqueue, acknowledge. No rule of the product is here."""

from __future__ import annotations

from slack_bolt import App

from handlers import actions, messages, previews, shortcuts, welcomes
from handlers.commands import registry, subscriptions
from handlers.commands.registry import COMMANDS, CommandRegistry
from handlers.intake import RequestIntake

__all__ = ["COMMANDS", "CommandRegistry", "RequestIntake", "register_listeners"]


def register_listeners(app: App, intake: RequestIntake, commands: CommandRegistry) -> None:
    """Register all listeners with the app."""
    registry.register_commands(app, intake, commands)
    messages.register_message_listeners(app, intake, commands)
    subscriptions.register_subscription_listeners(app, intake)
    welcomes.register_join_listener(app, intake)
    shortcuts.register_shortcuts(app, intake)
    previews.register_link_listener(app, intake)
    actions.register_actions(app, intake, commands)
