"""The command that prints what model calls cost."""

from __future__ import annotations

import json

import click

from bot.cli.base import open_command_foundation
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
    with open_command_foundation() as base:
        # it imports the SDKs, which takes most of a second; help must not wait for them
        from bot.container.costs import build_cost_services, build_usage_reader  # noqa: PLC0415

        first = parse_month(month, base.get_today().date) if month else None
        report = build_usage_reader(base, build_cost_services(base)).read_usage(first)
    click.echo(json.dumps(report.dump_json(), indent=2) if for_scripts else format_usage(report))
