"""The processes of the Procfile as commands."""

from __future__ import annotations

import click

from bot.cli.base import get_current_time, open_wiring


@click.command("run")
def run_command() -> None:
    """Run everything in one process: Slack, the work and the schedule."""
    from bot.processes import run_all  # noqa: PLC0415

    with open_wiring("INFO") as (settings, wiring):
        run_all(settings, wiring, get_current_time)


@click.command("web")
def web_command() -> None:
    """Take Slack's requests (a process of the Procfile)."""
    from bot.processes import run_web  # noqa: PLC0415

    with open_wiring("INFO") as (settings, wiring):
        run_web(settings, wiring)


@click.command("worker")
def worker_command() -> None:
    """Run jobs (a process of the Procfile)."""
    from bot.processes import run_worker  # noqa: PLC0415

    with open_wiring("INFO") as (settings, wiring):
        run_worker(settings, wiring)


@click.command("clock")
def clock_command() -> None:
    """Post the daily digest at its time (a process of the Procfile)."""
    from bot.processes import run_clock  # noqa: PLC0415

    with open_wiring("INFO") as (_, wiring):
        run_clock(wiring, get_current_time)
