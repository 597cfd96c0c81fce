"""The command that prints what model calls cost."""

from __future__ import annotations

import json

import click

from bot.cli.base import open_command_app
from bot.cli.grouped_help import format_example
from bot.domain.conversations.requests.usage_request import parse_month
from bot.render.operations.usage import format_usage


@click.command(
    "usage", short_help="Print what model calls cost.", epilog=format_example("prdigest usage --month 2026-10")
)
@click.option("--month", metavar="YYYY-MM", help="Month, such as 2026-10. Default: this one, and today.")
@click.option("--json", "for_scripts", is_flag=True, help="Print JSON.")
def usage_command(month: str | None, *, for_scripts: bool) -> None:
    """Print what model calls cost, what for, and how much of the limits is left. The last 13 months are kept."""
    with open_command_app() as app:
        first = parse_month(month, app.get_today().date) if month else None
        report = app.usage.read_usage(first)
    click.echo(json.dumps(report.dump_json(), indent=2) if for_scripts else format_usage(report))
