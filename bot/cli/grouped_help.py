"""Help that groups commands by what people do with them, with an example in each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class CommandSection:
    """A group of commands in the help, by name, in reading order."""

    title: str
    example: str
    commands: Sequence[str]


def format_example(command: str) -> str:
    """Return the last line of a command's help: a way to call it, not wrapped, so that it can be copied."""
    return f"\b\nExample: {command}"


class GroupedHelp(click.Group):
    """A group whose help lists its commands in sections."""

    def __init__(self, *arguments: Any, sections: Sequence[CommandSection] = (), **options: Any) -> None:
        """Take the sections, and what a group takes."""
        super().__init__(*arguments, **options)
        self._sections = sections

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section, then the commands that no section names."""
        named = {name for section in self._sections for name in section.commands}
        others = CommandSection("Other", "", [name for name in self.list_commands(ctx) if name not in named])
        for section in (*self._sections, others):
            if rows := _list_rows(self.commands, section.commands):
                title = f"{section.title} (example: {section.example})" if section.example else section.title
                with formatter.section(title):
                    formatter.write_dl(rows)


def _list_rows(commands: Mapping[str, click.Command], names: Sequence[str]) -> list[tuple[str, str]]:
    """Return names and short help of the commands that are to be shown."""
    shown = (commands[name] for name in names if name in commands)
    return [(each.name or "", each.get_short_help_str(limit=100)) for each in shown if not each.hidden]
