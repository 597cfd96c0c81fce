"""``python -m evals``: ask, judge, print a table; exit 1 if the marks are too low.

``python -m evals reverts`` measures how many of a year's known reverts are found, ``python -m evals risk`` the
risk list, on that year or on a clone, ``python -m evals context`` the functions around changes, ``python -m evals
contract`` the contract changes, ``python -m evals broke`` the suspects for known errors; none of them asks a
model. ``python -m evals trial`` compares summaries with public reports, and ``python -m evals reading`` measures
the AI bug review, both with or without a key.
"""

from __future__ import annotations

from typing import Any

import click

from bot.errors import PrdigestError
from evals.answers import questions
from evals.broke import broke
from evals.context import context
from evals.contract.command import contract
from evals.others import others
from evals.reading.command import reading
from evals.reverts import reverts
from evals.risk import risk
from evals.trial.command import trial


class _WithDefault(click.Group):
    """A group of commands whose first command is the default."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_named = args[:1] == ["--help"] or (args and args[0] in self.commands)
        return super().parse_args(ctx, args if is_named else ["questions", *args])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what a person can do something about is one sentence."""
        try:
            return super().invoke(ctx)
        except PrdigestError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_WithDefault)
def main() -> None:
    """Measure the bot: its answers (questions, the default), summaries, risk list, and finds of reverts."""


main.add_command(questions)
main.add_command(broke)
main.add_command(context)
main.add_command(contract)
main.add_command(others)
main.add_command(reading)
main.add_command(reverts)
main.add_command(risk)
main.add_command(trial)

if __name__ == "__main__":
    main()
