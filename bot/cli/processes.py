"""The processes of the Procfile as commands."""

from __future__ import annotations

import click

from bot.cli.base import open_command_app
from bot.cli.grouped_help import format_example


@click.command(
    "run",
    short_help="Run everything in one process.",
    epilog=format_example("prdigest run"),
)
def run_command() -> None:
    """Run the bot: everything in one process."""
    from bot.processes import run_all  # noqa: PLC0415

    with open_command_app("INFO") as app:
        run_all(app)


@click.command(
    "web",
    short_help="Take Slack's requests (a process of the Procfile).",
    epilog=format_example("prdigest web"),
)
def web_command() -> None:
    """Receive Slack's requests (one process of the Procfile)."""
    from bot.processes import run_web  # noqa: PLC0415

    with open_command_app("INFO") as app:
        run_web(app)


@click.command(
    "worker",
    short_help="Run jobs (a process of the Procfile).",
    epilog=format_example("prdigest worker"),
)
def worker_command() -> None:
    """Run jobs (one process of the Procfile)."""
    from bot.processes import run_worker  # noqa: PLC0415

    with open_command_app("INFO") as app:
        run_worker(app)


@click.command(
    "clock",
    short_help="Post what is due (a process of the Procfile).",
    epilog=format_example("prdigest clock"),
)
def clock_command() -> None:
    """Start digests at their time (one process of the Procfile)."""
    from bot.processes import run_clock  # noqa: PLC0415

    with open_command_app("INFO") as app:
        run_clock(app)
