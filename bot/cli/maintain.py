"""The commands that look after a bot: its set-up, what it costs, and what it keeps of people."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

import click

from bot import read_shipped_file
from bot.cli.base import format_example, get_current_time, json_option, open_command_app, show_progress_bar
from bot.errors import UsageError
from bot.platform.finding import CheckStatus, Finding
from bot.platform.slack.app_manifest import add_previews
from bot.platform.store.forgotten_ids import is_channel_id, is_user_id
from bot.settings import load_settings, load_usable_settings
from bot.text import format_count
from impact.text.strings import collapse_lines, escape_invisible

_NO_VOTES_SENTENCE = "No votes yet: the thumbs below answers in Slack collect them."


@click.command(
    "doctor", short_help="Check the set-up and say what to fix.", epilog=format_example("prdigest doctor")
)
@click.option("--paths", "with_paths", is_flag=True, help="Also list the default patterns of each class of paths.")
@json_option
def doctor_command(*, with_paths: bool, for_scripts: bool) -> None:
    """Check the installation, and say how to fix each problem.

    It works before the first start too. The exit code is 1 if there is something to fix.
    """
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


@click.command(
    "usage", short_help="Print what model calls cost.", epilog=format_example("prdigest usage --month 2026-10")
)
@click.option("--month", metavar="YYYY-MM", help="Month, such as 2026-10. Default: this one, and today.")
@json_option
def usage_command(month: str | None, *, for_scripts: bool) -> None:
    """Print what model calls cost, what for, and how much of the limits is left. The last 13 months are kept."""
    from bot.features import usage as report  # noqa: PLC0415
    from bot.platform.slack.terminal import format_message  # noqa: PLC0415

    with open_command_app() as app:
        first = report.parse_month(month, app.get_today().date) if month else None
        usage = report.read_usage(app, first)
    click.echo(
        json.dumps(usage.dump_json(), indent=2) if for_scripts else format_message(report.render_usage(usage))
    )


@click.command(
    "manifest",
    short_help="Print the manifest that a Slack app is created from.",
    epilog=format_example("prdigest manifest > manifest.json"),
)
@click.option("--previews", is_flag=True, help="With what previews of links need, which are off without it.")
def manifest_command(*, previews: bool) -> None:
    """Print the manifest for creating the Slack app."""
    content = read_shipped_file("manifest.json")
    if previews:
        manifest = add_previews(json.loads(content), urlsplit(load_settings().github_web_url).netloc)
        content = f"{json.dumps(manifest, indent=2)}\n".encode()
    click.echo(content, nl=False)


@click.command(
    "env",
    short_help="Print .env.example, which explains every setting.",
    epilog=format_example("prdigest env > .env"),
)
def env_command() -> None:
    """Print .env.example with all settings. Save it as .env and fill it in."""
    click.echo(read_shipped_file(".env.example"), nl=False)


@click.command(
    "forget",
    short_help="Delete what is stored about a person or a channel.",
    epilog=format_example("prdigest forget --user U0123ABCD"),
)
@click.option("--user", metavar="ID", help="Slack id of a person, such as U0123ABCD.")
@click.option("--channel", metavar="ID", help="Slack id of a channel or of direct messages, such as C0123ABCD.")
@click.option("--yes", "is_confirmed", is_flag=True, help="Delete without asking.")
def forget_command(user: str | None, channel: str | None, *, is_confirmed: bool) -> None:
    """Delete what is stored about a person or a channel.

    It first shows what would be deleted, and asks. What belongs to others stays; the id is taken out of it. With
    SLACK_BOT_TOKEN, the threads in which the person wrote are found too. The bot may run meanwhile.
    """
    if bool(user) == bool(channel):
        raise UsageError("Name whom to forget: either --user U… or --channel C….")
    if user and not is_user_id(user):
        raise UsageError("--user takes the id of a person: U0123ABCD, in their profile under Copy member ID.")
    if channel and not is_channel_id(channel):
        raise UsageError("--channel takes the id of a channel: C0123ABCD, at the bottom of its About tab.")
    with open_command_app() as app:
        from bot.features import import_features  # noqa: PLC0415
        from bot.features.forget import carry_out, plan_channel, plan_user  # noqa: PLC0415

        import_features()
        if user:
            with show_progress_bar("thread", "Threads") as show:
                plan = plan_user(app, user, show)
        else:
            plan = plan_channel(app, channel or "")
        for line in plan.describe():
            click.echo(line)
        if plan.counts:
            is_agreed = is_confirmed or _ask_for_consent()
            if is_agreed:
                carry_out(app, plan)
            click.echo("Deleted." if is_agreed else "Nothing was deleted.")
        for line in plan.describe_remains(app):
            click.echo(line)


def _ask_for_consent() -> bool:
    """Return whether the user agrees. Raises UsageError if nobody can answer."""
    try:
        return click.confirm("Delete it?")
    except click.Abort as error:
        raise UsageError("Nothing was deleted: answer y, or add --yes.") from error


@click.command(
    "votes", short_help="Print the votes on answers as lines of JSON.", epilog=format_example("prdigest votes")
)
def votes_command() -> None:
    """Print the votes on answers as lines of JSON."""
    count = 0
    with open_command_app() as app:
        from bot.features.questions.votes import format_vote, iterate_votes  # noqa: PLC0415

        for vote in iterate_votes(app):
            click.echo(escape_invisible(json.dumps(format_vote(vote), ensure_ascii=False)))
            count += 1
    if not count:
        # not on stdout, which scripts read as lines of JSON
        click.echo(_NO_VOTES_SENTENCE, err=True)


_MARKS = {CheckStatus.OK: "✓", CheckStatus.FAILED: "✗", CheckStatus.NOTE: "–"}  # noqa: RUF001 (a dash)
_COLOURS = {CheckStatus.OK: "green", CheckStatus.FAILED: "red", CheckStatus.NOTE: "yellow"}
_ARROW = "→"
_ASCII_SIGNS = str.maketrans({"✓": "ok  ", "✗": "FAIL", "–": "-   ", "→": "->", "…": "...", "·": "-"})  # noqa: RUF001


def format_finding(finding: Finding, encoding: str) -> str:
    """Format a finding as a line, and one for the advice; ``click.echo`` removes the mark's color in files."""

    # what a terminal of that encoding can't show is replaced
    def fit(text: str) -> str:
        try:
            "".join((*_MARKS.values(), _ARROW, "…")).encode(encoding)
        except UnicodeEncodeError:
            text = text.translate(_ASCII_SIGNS)
        return text.encode(encoding, "replace").decode(encoding)

    mark = fit(_MARKS[finding.status])
    coloured = click.style(mark, fg=_COLOURS[finding.status])
    line = f"{coloured} {fit(collapse_lines(f'{finding.name}: {finding.result}'))}"
    if not finding.advice:
        return line
    return f"{line}\n{' ' * len(mark)} {fit(collapse_lines(f'{_ARROW} {finding.advice}'))}"


def format_report(findings: Sequence[Finding], encoding: str) -> str:
    """Format all findings: how many things there are to fix and which, then the others."""
    failed = [each for each in findings if each.status is CheckStatus.FAILED]
    others = [each for each in findings if each.status is not CheckStatus.FAILED]
    unchecked = sum(each.is_unchecked for each in findings)
    skipped = f"I couldn't make {format_count(unchecked, 'check')}. " if unchecked else ""
    heading = f"{format_count(len(failed), 'problem')} to fix:" if failed else f"{skipped}No problems found."
    rows = [heading, *(format_finding(each, encoding) for each in failed), *([""] if failed else [])]
    return "\n".join([*rows, *(format_finding(each, encoding) for each in others)])


def format_findings_json(findings: Iterable[Finding]) -> str:
    """Format the findings as a list for scripts: name, status (ok, failed or note), found, advice."""
    # the names never change
    fields = [
        {"name": each.name, "status": each.status, "found": each.result, "advice": each.advice}
        for each in findings
    ]
    return json.dumps(fields, indent=2)
