"""The commands, and everything that derives from all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt import Ack, App

from bot.domain.text.redaction import redact_text
from bot.jobs.command_jobs import CommandJob
from bot.render.conversations.greetings import HelpExample
from handlers import digest, previews, requests, touches, usage
from handlers.commands import (
    risks,
    subscriptions,
    summary,
)
from handlers.commands.declaration import HELP_WORD, Command, VerbHandler
from handlers.intake import RequestIntake


@dataclass(frozen=True, slots=True)
class CommandRegistry:
    """The commands, in the order of the help and the manifest."""

    commands: tuple[Command[Any], ...]

    @property
    def jobs(self) -> tuple[CommandJob[Any], ...]:
        """The jobs of all commands, for workers."""
        return tuple(job for command in self.commands for job in command.jobs)

    @property
    def examples(self) -> tuple[HelpExample, ...]:
        """The lines of all commands in the help of the bot."""
        return tuple(example for command in self.commands for example in command.examples)

    @property
    def verbs(self) -> Mapping[str, VerbHandler]:
        """The handlers of all verbs, by word in lower case."""
        return {verb: handle for command in self.commands for verb, handle in command.verbs.items()}

    def find_by_word(self, word: str) -> Command[Any] | None:
        """Return the command that a word in lower case begins, None if there is none."""
        return next((command for command in self.commands if word in command.trigger_words), None)

    def find_by_text(self, text: str) -> Command[Any] | None:
        """Return the command that a text is without any of its words, None if there is none."""
        return next((command for command in self.commands if command.is_bare_form(text)), None)


# of /prdigest, in the order of its help and its hint
SUB_COMMANDS = (
    touches.CONTRACT,
    touches.TOUCHES,
    touches.BROKE,
    touches.PLANS,
    subscriptions.SUB_COMMAND,
    previews.SUB_COMMAND,
    usage.SUB_COMMAND,
)
COMMANDS = CommandRegistry((summary.COMMAND, risks.COMMAND, digest.make_command(SUB_COMMANDS)))


def register_commands(app: App, intake: RequestIntake, commands: CommandRegistry) -> None:
    """Register the listeners for the commands."""

    def listen(declared: Command[Any]) -> None:
        # Bolt passes its arguments by name
        @app.command(declared.name)
        def answer(ack: Ack, command: dict[str, Any]) -> None:
            ack(_answer_command(intake, declared, command))

    for each in commands.commands:
        listen(each)


def _answer_command(intake: RequestIntake, command: Command[Any], payload: Mapping[str, Any]) -> str:
    """Return the help of a command, or the reply of the intake."""
    asker, text = requests.parse_command(payload), redact_text(str(payload.get("text") or "").strip())
    first_word = "".join(text.lower().split(maxsplit=1)[:1])
    asks_for_help = first_word == HELP_WORD or (command.needs_text and not text)
    return intake.handle_command(
        asker, lambda: command.usage if asks_for_help else command.accept_text(intake, asker, text)
    )
