"""The commands of ``prdigest``: parse options, call a feature, print the result. They hold no other logic."""

from __future__ import annotations

from typing import Any

import click

from bot.cli.base import CommandSection, GroupedHelp
from bot.cli.demo import demo_command
from bot.cli.digests import (
    deprecations_command,
    digest_command,
    report_command,
    risks_group,
    since_command,
    summary_command,
)
from bot.cli.init import init_command
from bot.cli.maintain import (
    PROCESS_COMMANDS,
    backfill_command,
    doctor_command,
    env_command,
    forget_command,
    manifest_command,
    mcp_command,
    usage_command,
    votes_command,
)
from bot.cli.profiles import profile_group
from bot.cli.touches import broke_command, contract_command, touches_group, upgrade_command

_SECTIONS = (
    CommandSection("Try", "prdigest demo --open", (demo_command,)),
    CommandSection(
        "Read",
        "prdigest digest --repo owner/name --dry-run",
        (
            *(digest_command, report_command, summary_command, risks_group, contract_command, touches_group),
            *(broke_command, upgrade_command, since_command, deprecations_command, votes_command),
        ),
    ),
    CommandSection("Run", "prdigest init", (init_command, *PROCESS_COMMANDS, mcp_command)),
    CommandSection(
        "Maintain",
        "prdigest doctor",
        (
            *(doctor_command, usage_command, env_command, manifest_command, profile_group),
            *(backfill_command, forget_command),
        ),
    ),
)


@click.group(
    cls=GroupedHelp,
    sections=_SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="A daily Slack digest of merged pull requests, with the risky ones called out.",
    epilog="`prdigest COMMAND --help` shows the options of a command, and an example.",
)
@click.version_option(package_name="prdigest", prog_name="prdigest")
def cli() -> None:
    pass


def run_cli(arguments: list[str] | None = None) -> Any:
    """Run a command. Raises what click and the domain raise; :mod:`bot.__main__` turns that into exit codes."""
    return cli.main(arguments, prog_name="prdigest", standalone_mode=False)
