"""Entry of requests from Slack: parse, check, enqueue, acknowledge. No rule of the product is here.

The parts of ``/prdigest`` are those that modules of this package declare (:mod:`handlers.declaration`).
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from slack_bolt import Ack
from slack_bolt import App as Bolt

from bot.app import App
from bot.redaction import redact_text
from handlers import digest, messages, previews, risks, subscriptions, summaries
from handlers.declaration import Command, Commands, SubCommand, parse_command
from handlers.intake import handle_command, register_clicks


def _find_sub_commands() -> tuple[SubCommand, ...]:
    """Return the parts of ``/prdigest``, in the order of its help and its hint."""
    modules = [import_module(each.name) for each in pkgutil.walk_packages(__path__, f"{__name__}.")]
    declared = [part for module in modules for part in vars(module).values() if isinstance(part, SubCommand)]
    return tuple(sorted(declared, key=lambda part: part.place))


SUB_COMMANDS = _find_sub_commands()
# in the order of the help and the manifest
COMMANDS: Commands = (summaries.COMMAND, risks.COMMAND, digest.make_command(SUB_COMMANDS))


def register_listeners(bolt: Bolt, app: App, commands: Commands) -> None:
    """Register all listeners. Of two that fit, the first one gets an event or a click."""
    for each in commands:
        _listen_to_command(bolt, app, each, commands)
    messages.register_message_listeners(bolt, app, commands)
    subscriptions.register_subscription_listeners(bolt, app)
    summaries.register_shortcuts(bolt, app)
    previews.register_link_listener(bolt, app)
    register_clicks(bolt, app, commands)


def _listen_to_command(bolt: Bolt, app: App, declared: Command, commands: Commands) -> None:
    # Bolt passes its arguments by name
    @bolt.command(declared.name)
    def answer(ack: Ack, command: dict[str, Any]) -> None:
        asker, text = parse_command(command), redact_text(str(command.get("text") or "").strip())

        def accept() -> str | None:
            if (told := declared.answer_help(text, commands)) is None:
                declared.accept_text(app, asker, text)
            return told

        ack(handle_command(app, asker, accept))
