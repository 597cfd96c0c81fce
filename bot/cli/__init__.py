"""The commands of ``prdigest``: parse options, call a service, print the result. They hold no other logic."""

from __future__ import annotations

import json
from typing import Any

import click

from bot.cli.backfill import backfill_command
from bot.cli.base import open_command_app
from bot.cli.demo import demo_command
from bot.cli.digests import digest_command, report_command, summary_command
from bot.cli.doctor import doctor_command
from bot.cli.forget import forget_command
from bot.cli.grouped_help import CommandSection, GroupedHelp, format_example
from bot.cli.mcp import mcp_command
from bot.cli.processes import clock_command, run_command, web_command, worker_command
from bot.cli.profiles import profile_group
from bot.cli.risks import risks_group
from bot.cli.shipped import env_command, manifest_command
from bot.cli.touches import (
    broke_command,
    contract_command,
    deprecations_command,
    since_command,
    touches_group,
    upgrade_command,
)
from bot.cli.usage import usage_command

_SECTIONS = (
    CommandSection("Try", "prdigest demo --open", ("demo",)),
    CommandSection(
        "Read",
        "prdigest digest --repo owner/name --dry-run",
        (
            "digest",
            "report",
            "summary",
            "risks",
            "contract",
            "touches",
            "broke",
            "upgrade",
            "since",
            "deprecations",
            "votes",
        ),
    ),
    CommandSection("Run", "prdigest run", ("run", "web", "worker", "clock", "mcp")),
    CommandSection(
        "Maintain",
        "prdigest doctor",
        ("doctor", "usage", "env", "manifest", "profile", "backfill", "forget"),
    ),
)
_NO_VOTES_SENTENCE = "No votes yet: the thumbs below answers in Slack collect them."


@click.group(
    cls=GroupedHelp,
    sections=_SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="A daily Slack digest of merged pull requests, with the risky ones called out.",
    epilog="`prdigest COMMAND --help` shows the options of a command, and an example.",
)
@click.version_option(package_name="prdigest", prog_name="prdigest")
def cli() -> None:
    """Group all commands."""


@cli.command(
    "votes", short_help="Print the votes on answers as lines of JSON.", epilog=format_example("prdigest votes")
)
def votes_command() -> None:
    """Print the votes on answers as lines of JSON."""
    count = 0
    with open_command_app() as app:
        # it imports the SDKs, which takes most of a second; help must not wait for them
        from bot.features.questions.votes import format_vote, iterate_votes  # noqa: PLC0415

        for vote in iterate_votes(app):
            click.echo(json.dumps(format_vote(vote), ensure_ascii=False))
            count += 1
    if not count:
        # not on stdout, which scripts read as lines of JSON
        click.echo(_NO_VOTES_SENTENCE, err=True)


for command in (
    demo_command,
    report_command,
    digest_command,
    summary_command,
    backfill_command,
    run_command,
    web_command,
    worker_command,
    clock_command,
    doctor_command,
    manifest_command,
    env_command,
    forget_command,
    risks_group,
    contract_command,
    profile_group,
    touches_group,
    broke_command,
    upgrade_command,
    since_command,
    deprecations_command,
    usage_command,
    mcp_command,
):
    cli.add_command(command)


def run_cli(arguments: list[str] | None = None) -> Any:
    """Run a command. Raises what click and the domain raise; :mod:`bot.__main__` turns that into exit codes."""
    return cli.main(arguments, prog_name="prdigest", standalone_mode=False)
