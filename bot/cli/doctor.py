"""``prdigest doctor``: what is wrong with this installation, and what to do."""

from __future__ import annotations

import logging
import sys
import time

import click

from bot.cli.base import get_current_time
from bot.doctor.report import format_finding, format_findings_json, format_verdict
from bot.domain.operations.finding import CheckStatus, Finding
from bot.settings import load_usable_settings


@click.command("doctor")
@click.option("--json", "for_scripts", is_flag=True, help="Print JSON.")
def doctor_command(*, for_scripts: bool) -> None:
    """Check the installation, and say how to fix each problem."""
    # the SDKs take most of a second to import; help and a mistyped option must not wait for them
    from bot.doctor.probe_openers import open_doctor  # noqa: PLC0415

    # the findings report the same in better words
    logging.basicConfig(level=logging.CRITICAL)
    findings: list[Finding] = []
    with open_doctor(load_usable_settings(), get_current_time, time.sleep) as checkup:
        for finding in checkup.run_checks():
            findings.append(finding)
            if not for_scripts:
                click.echo(format_finding(finding, sys.stdout.encoding))
    click.echo(format_findings_json(findings) if for_scripts else format_verdict(findings))
    if any(each.status is CheckStatus.FAILED for each in findings):
        sys.exit(1)
