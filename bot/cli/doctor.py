"""``prdigest doctor``: what is wrong with this installation, and what to do."""

from __future__ import annotations

import logging
import sys
import time

import click

from bot.cli.base import get_current_time
from bot.cli.grouped_help import format_example
from bot.doctor.report import format_findings_json, format_report
from bot.platform.finding import CheckStatus
from bot.settings import load_usable_settings


@click.command(
    "doctor", short_help="Check the set-up and say what to fix.", epilog=format_example("prdigest doctor")
)
@click.option("--paths", "with_paths", is_flag=True, help="Also list the default patterns of each class of paths.")
@click.option("--json", "for_scripts", is_flag=True, help="Print JSON.")
def doctor_command(*, with_paths: bool, for_scripts: bool) -> None:
    """Check the installation, and say how to fix each problem.

    It works before the first start too. The exit code is 1 if there is something to fix.
    """
    # the SDKs take most of a second to import; help and a mistyped option must not wait for them
    from bot.doctor.checkup import run_checks  # noqa: PLC0415
    from bot.doctor.settings import list_default_paths  # noqa: PLC0415

    # the findings report the same in better words
    logging.basicConfig(level=logging.CRITICAL)
    if sys.stderr.isatty():
        click.echo("Checking…", err=True)
    findings = list(run_checks(load_usable_settings(), get_current_time, time.sleep))
    if with_paths:
        findings += list_default_paths()
    click.echo(format_findings_json(findings) if for_scripts else format_report(findings, sys.stdout.encoding))
    if any(each.status is CheckStatus.FAILED for each in findings):
        sys.exit(1)
