"""Entry of requests from Slack: parse, check, enqueue, acknowledge. No rule of the product is here.

The parts of ``/prdigest`` are those that modules of this package declare (:mod:`handlers.declaration`).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from slack_bolt import Ack
from slack_bolt import App as Bolt

from bot.app import App
from bot.domain.text.redaction import redact_text
from handlers import (
    actions,
    digest,
    messages,
    previews,
    requests,
    risks,
    shortcuts,
    subscriptions,
    summaries,
    welcomes,
)
from handlers.declaration import HELP_WORD, Command, CommandRegistry, SubCommand
from handlers.intake import handle_command


def _find_sub_commands() -> tuple[SubCommand, ...]:
    """Return the parts of ``/prdigest``, in the order of its help and its hint."""
    modules = [import_module(each.name) for each in pkgutil.walk_packages(__path__, f"{__name__}.")]
    declared = [part for module in modules for part in vars(module).values() if isinstance(part, SubCommand)]
    return tuple(sorted(declared, key=lambda part: part.place))


__all__ = ["COMMANDS", "SUB_COMMANDS", "CommandRegistry", "register_listeners"]

SUB_COMMANDS = _find_sub_commands()
COMMANDS = CommandRegistry((summaries.COMMAND, risks.COMMAND, digest.make_command(SUB_COMMANDS)))


def register_listeners(bolt: Bolt, app: App, commands: CommandRegistry) -> None:
    """Register all listeners. Of two that fit, the first one gets an event or a click."""
    for each in commands.commands:
        _listen_to_command(bolt, app, each)
    messages.register_message_listeners(bolt, app, commands)
    welcomes.register_welcomes(bolt, app, commands)
    subscriptions.register_subscription_listeners(bolt, app)
    shortcuts.register_shortcuts(bolt, app)
    previews.register_link_listener(bolt, app)
    actions.register_actions(bolt, app, commands)


def _listen_to_command(bolt: Bolt, app: App, declared: Command[Any]) -> None:
    # Bolt passes its arguments by name
    @bolt.command(declared.name)
    def answer(ack: Ack, command: dict[str, Any]) -> None:
        ack(_answer_command(app, declared, command))


def _answer_command(app: App, command: Command[Any], payload: Mapping[str, Any]) -> str:
    """Return the help of a command, or the reply of the app."""
    asker, text = requests.parse_command(payload), redact_text(str(payload.get("text") or "").strip())
    first_word = "".join(text.lower().split(maxsplit=1)[:1])
    asks_for_help = first_word == HELP_WORD or (command.needs_text and not text)
    return handle_command(
        app, asker, lambda: command.usage if asks_for_help else command.accept_text(app, asker, text)
    )
