"""The commands, and what derives from all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt import Ack, App

from bot.domain.text.redaction import redact_text
from bot.services.jobs.command_jobs import CommandJobs
from handlers import requests
from handlers.commands import digest, risks, summary
from handlers.commands.declaration import Command, VerbHandler
from handlers.intake import RequestIntake


@dataclass(frozen=True, slots=True)
class CommandRegistry:
    """Commands, in the order in which the help and the manifest name them."""

    commands: tuple[Command[Any], ...]

    @property
    def jobs(self) -> CommandJobs:
        """What workers know of them."""
        jobs = tuple(job for command in self.commands for job in command.jobs)
        return CommandJobs(jobs, tuple(example for command in self.commands for example in command.examples))

    @property
    def verbs(self) -> Mapping[str, VerbHandler]:
        """What their verbs do, by word in small letters."""
        return {verb: accept for command in self.commands for verb, accept in command.verbs.items()}

    def find_by_word(self, word: str) -> Command[Any] | None:
        """Return the command that a word in small letters begins."""
        return next((command for command in self.commands if word in command.trigger_words), None)

    def find_by_text(self, text: str) -> Command[Any] | None:
        """Return the command that a text is without any of its words."""
        return next((command for command in self.commands if command.is_bare_form(text)), None)


COMMANDS = CommandRegistry((summary.COMMAND, risks.COMMAND, digest.COMMAND))


def register_commands(app: App, intake: RequestIntake, commands: CommandRegistry) -> None:
    """Listen to the commands."""

    def listen(declared: Command[Any]) -> None:
        # Bolt gives its arguments by their names
        @app.command(declared.name)
        def answer(ack: Ack, command: dict[str, Any]) -> None:
            ack(_answer_command(intake, declared, command))

    for each in commands.commands:
        listen(each)


def _answer_command(intake: RequestIntake, command: Command[Any], payload: Mapping[str, Any]) -> str:
    asker, text = requests.parse_command(payload), redact_text(str(payload.get("text") or "").strip())
    asks_for_help = text.lower() == "help" or (command.needs_text and not text)
    return intake.handle_command(
        asker, lambda: command.usage if asks_for_help else command.accept_text(intake, asker, text)
    )
