"""Options of the commands that read local clones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from bot.errors import UsageError
from impact.evaluation.window import EvaluationWindow
from impact.text.dates import parse_date

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "for_scripts", is_flag=True, help="Print JSON.")
branch_option = click.option("--branch", help="Branch. Default: the default branch of the clone.")


def make_clone_option(name: str, what: str, metavar: str = "CLONE") -> Callable[[F], F]:
    """Return the required option with the folder of a local clone; ``what`` says of which repository."""
    return click.option(
        name,
        metavar=metavar,
        required=True,
        type=click.Path(path_type=Path),
        help=f"A local git clone{what}. It is only read.",
    )


def make_branch_option(name: str, what: str) -> Callable[[F], F]:
    """Return the option with a branch; ``what`` says of which clone, where there are several."""
    return click.option(name, help=f"Branch{what}. Default: its default branch.")


def dates_options(command: F) -> F:
    """Add the options ``--since`` and ``--until``."""
    until = click.option("--until", metavar="YYYY-MM-DD", required=True, help="Last date (UTC) of merges.")
    since = click.option("--since", metavar="YYYY-MM-DD", required=True, help="First date (UTC) of merges.")
    return since(until(command))


def parse_dates(since: str, until: str) -> EvaluationWindow:
    """Return the dates of these options. Raises UsageError if one is none, or the last is before the first."""
    dates = EvaluationWindow(parse_date(since), parse_date(until))
    if dates.until < dates.since:
        raise UsageError(f"--until {dates.until} is before --since {dates.since}: exchange the dates.")
    return dates
