"""The command that prints what model calls cost."""

from __future__ import annotations

import json

import click

from bot.cli.base import open_command_app
from bot.cli.grouped_help import format_example


@click.command(
    "usage", short_help="Print what model calls cost.", epilog=format_example("prdigest usage --month 2026-10")
)
@click.option("--month", metavar="YYYY-MM", help="Month, such as 2026-10. Default: this one, and today.")
@click.option("--json", "for_scripts", is_flag=True, help="Print JSON.")
def usage_command(month: str | None, *, for_scripts: bool) -> None:
    """Print what model calls cost, what for, and how much of the limits is left. The last 13 months are kept."""
    from bot.features import usage as report  # noqa: PLC0415 (it needs the app, which takes long to import)
    from bot.platform.slack.terminal import format_message  # noqa: PLC0415

    with open_command_app() as app:
        first = report.parse_month(month, app.get_today().date) if month else None
        usage = report.read_usage(app, first)
    click.echo(
        json.dumps(usage.dump_json(), indent=2) if for_scripts else format_message(report.render_usage(usage))
    )
