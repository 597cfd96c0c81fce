"""The commands that look after a bot: its set-up, what it costs, and what it keeps of people."""

from __future__ import annotations

import json
import logging
import secrets
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from bot import read_shipped_file
from bot.cli.base import (
    choose_zone,
    find_kept_repository,
    format_example,
    get_current_time,
    json_option,
    open_command_app,
    repo_option,
    show_progress_bar,
    timezone_option,
)
from bot.dates import Span, get_today, parse_day
from bot.errors import ConfigurationError, PrdigestError, UsageError
from bot.mcp import EXTRA_HINT, has_sdk
from bot.platform.finding import CheckStatus, Finding
from bot.platform.slack.app_manifest import add_agent_view, add_previews, add_slackbot
from bot.platform.store.forgotten_ids import is_channel_id, is_user_id
from bot.settings import Settings, load_settings, load_usable_settings, require_secret
from bot.text import format_count
from impact.repository import Repository
from impact.text.strings import collapse_lines, escape_invisible

if TYPE_CHECKING:
    from bot.app import App
    from bot.features.backfill import CostLimit

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
    from bot.doctor.checks import list_default_paths  # noqa: PLC0415
    from bot.doctor.checkup import run_checks  # noqa: PLC0415

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
@click.option("--slackbot", metavar="ADDRESS", help="With tools for Slackbot at this address of prdigest mcp.")
@click.option("--agent", is_flag=True, help="As an agent of Slack, which an app can't cease to be.")
def manifest_command(*, previews: bool, agent: bool, slackbot: str | None) -> None:
    """Print the manifest for creating the Slack app."""
    content = read_shipped_file("manifest.json")
    if previews or agent or slackbot:
        manifest = json.loads(content)
        if previews:
            manifest = add_previews(manifest, urlsplit(load_settings().github_web_url).netloc)
        if agent:
            manifest = add_agent_view(manifest)
        if slackbot:
            manifest = add_slackbot(manifest, slackbot)
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
        from bot.features.questions.view import format_vote, iterate_votes  # noqa: PLC0415

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


# --- backfill

log = logging.getLogger(__name__)


@click.command(
    "backfill",
    short_help="Fill history and caches for past days.",
    epilog=format_example("prdigest backfill --since 2026-02-01 --facts"),
)
@repo_option
@click.option("--since", metavar="DAY", required=True, help="First day, local time, such as 2026-02-01.")
@click.option("--until", metavar="DAY", default="yesterday", help="Last day, local time. Default: yesterday.")
@timezone_option
@click.option("--facts", is_flag=True, help="Load history and files only; don't call the model.")
@click.option(
    "--max-cost",
    metavar="USD",
    type=click.FloatRange(min=0),
    default=5.0,
    show_default=True,
    help="Maximum cost of summaries.",
)
def backfill_command(
    repo: str | None, since: str, until: str, timezone: str | None, *, facts: bool, max_cost: float
) -> None:
    """Load the history of past days, newest first. Run it again to continue after an interruption."""
    from bot.features import backfill  # noqa: PLC0415

    # without a terminal there is no bar, and each day is a line of the log
    with open_command_app("WARNING" if sys.stderr.isatty() else "INFO") as app:
        span = _parse_span(app.settings, since, until, timezone)
        repository = find_kept_repository(app, repo)
        if not (facts or app.sources.model):
            click.echo(f"{app.provider.key_variable} is not set: loading history and files only.", err=True)
        limit = backfill.CostLimit(max_cost) if app.sources.model and not facts else None
        load_history(app, repository, span, limit)


def load_history(app: App, repository: Repository, span: Span, limit: CostLimit | None) -> None:
    """Load the history of days with a progress bar, and print what came of it, also after an interruption.

    Raises PrdigestError if a day could not be loaded.
    """
    from bot.features import backfill  # noqa: PLC0415

    outcomes: list[backfill.BackfillOutcome] = []
    try:
        with show_progress_bar("day", "Days") as show:

            def show_progress(sentence: str) -> None:
                done = backfill.format_total(outcomes, limit)
                show(len(outcomes), len(span), f"{done}; {sentence}" if sentence else done)

            show_progress("")
            for outcome in backfill.fill_days(app, repository, span, limit, show_progress):
                outcomes.append(outcome)
                log.info("%s", outcome)
                show_progress("")
    finally:
        # also after an interruption, or when the cost limit is reached
        if outcomes or (limit and limit.spent):
            click.echo(backfill.format_backfill(repository, span, outcomes, limit))
    failed = sum(not outcome.is_filled for outcome in outcomes)
    if failed:
        raise PrdigestError(f"{format_count(failed, 'day')} could not be loaded: run the same command again.")


def _parse_span(settings: Settings, since: str, until: str, timezone: str | None) -> Span:
    zone = choose_zone(settings, timezone)
    today = get_today(get_current_time(), zone)
    span = Span(parse_day(since, today).date, parse_day(until, today).date, zone)
    if span.last < span.first:
        raise UsageError(f"--until is before --since: there is no day from {span.first} to {span.last}.")
    return span


# --- processes

_TOKEN_HINT = "a token of 32 characters or more, which clients send"  # noqa: S105 (what it is)


def _make_command(name: str, short_help: str, text: str) -> click.Command:
    @click.command(name, short_help=short_help, help=text, epilog=format_example(f"prdigest {name}"))
    def run_process() -> None:
        from bot import processes  # noqa: PLC0415

        run = {
            "run": processes.run_all,
            "web": processes.run_web,
            "worker": processes.run_worker,
            "clock": processes.run_clock,
        }[name]
        with open_command_app("INFO") as app:
            run(app)

    return run_process


PROCESS_COMMANDS = (
    _make_command("run", "Run everything in one process.", "Run the bot: everything in one process."),
    _make_command(
        "web",
        "Take Slack's requests (a process of the Procfile).",
        "Receive Slack's requests (one process of the Procfile).",
    ),
    _make_command("worker", "Run jobs (a process of the Procfile).", "Run jobs (one process of the Procfile)."),
    _make_command(
        "clock",
        "Post what is due (a process of the Procfile).",
        "Start digests at their time (one process of the Procfile).",
    ),
)


@click.command(
    "mcp", short_help="Serve tools to coding agents (MCP).", epilog=format_example("prdigest mcp --http")
)
@click.option(
    "--http",
    "over_http",
    is_flag=True,
    help="Serve over HTTP on PRDIGEST_MCP_ADDRESS, for clients that have the token.",
)
def mcp_command(*, over_http: bool) -> None:
    """Serve tools to coding agents over the Model Context Protocol.

    Without --http, one client starts this command and talks over its standard input and output. Everything is read
    only, and no model is asked.
    """
    if not has_sdk():
        raise ConfigurationError(EXTRA_HINT)
    with open_command_app("INFO") as app:
        settings = app.settings
        token = require_secret(settings.prdigest_mcp_token, "PRDIGEST_MCP_TOKEN", _TOKEN_HINT) if over_http else ""
        from bot.features.renames import follow_renames  # noqa: PLC0415
        from bot.mcp.calls import AgentTools  # noqa: PLC0415
        from bot.mcp.http import HttpServer  # noqa: PLC0415
        from bot.mcp.server import build_server, serve_stdio  # noqa: PLC0415
        from bot.mcp.slackbot import SlackbotDoor  # noqa: PLC0415

        follow_renames(app)
        client = "http" if over_http else "stdio"
        server = build_server(AgentTools(app, client, time.monotonic, lambda: secrets.token_hex(4)))
        if over_http:
            door = None
            if settings.prdigest_mcp_slackbot:
                secret = require_secret(settings.slack_signing_secret, "SLACK_SIGNING_SECRET", "the app's secret")
                app.messenger.fetch_team()
                door = SlackbotDoor(app, secret)
            address, hosts = settings.prdigest_mcp_address, settings.prdigest_mcp_hosts
            HttpServer(server, token, address, hosts, door=door).run()
        else:
            serve_stdio(server)
