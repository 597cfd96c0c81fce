from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import click
from click.core import ParameterSource

from bot.cli.base import (
    CLONE,
    check_writable,
    choose_zone,
    date_option,
    find_kept_repository,
    find_repository,
    format_example,
    get_current_time,
    name_option,
    open_command_app,
    repo_option,
    require_repository,
    show_progress_bar,
    timezone_option,
    write_text,
)
from bot.dates import LocalDay, Span, get_today, parse_day
from bot.errors import PrdigestError, UsageError
from bot.features.digest.rules import Digest, DigestSpec
from bot.features.digest.view import RenderedDigest, render_digest, render_report
from bot.features.merges.requests import DEFAULT_SCORE_SPAN, ScoreRequest
from bot.features.risks.view import format_score
from bot.features.summaries.view import build_summary_json, format_summary
from bot.features.touches import terminal
from bot.features.touches.requests import SinceRequest
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import parse_reference
from bot.platform.slack.terminal import format_message
from bot.settings import Settings, check_channel_id
from bot.text import format_count
from impact.repository import Repository
from impact.text.strings import escape_invisible

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from bot.app import App

_NO_MODEL_NOTE = "{} is not set: summaries contain facts only."


@click.command(
    "report",
    short_help="Write the Markdown report of a day, or a folder with those of several.",
    epilog=format_example("prdigest report --repo owner/name --since 2026-02-22 --out reports"),
)
@repo_option
@date_option
@click.option("--since", metavar="DAY", help="First day of several, local time. They need a folder, by --out.")
@click.option("--until", metavar="DAY", help="Last day of several, local time. Default: yesterday.")
@timezone_option
@name_option
@click.option(
    "--out",
    type=CLONE,
    help="File to write, or with --since a folder: a new or empty one, or one that this command made. "
    "Default: stdout.",
)
@click.option("--again", is_flag=True, help="With --since: make days again that are in the folder.")
def report_command(
    repo: str | None,
    date: str,
    since: str | None,
    until: str | None,
    timezone: str | None,
    name: str | None,
    out: Path | None,
    *,
    again: bool,
) -> None:
    """Write the Markdown report of a day.

    With --since, write those of several days into a folder, with an index, an Atom feed and the contract changes
    as JSON. Days that are there and complete are not made again: run it each day.
    """
    _check_report_options(since, until, out, again=again)
    with open_command_app() as app:
        selection = _parse_selection(app.settings, repo, since or date, timezone, name)
        if since and out:
            _write_reports(app, selection, until, out, again=again)
            return
        text = render_report(_build_digest(app, selection, "REPORT"))
    if out is None:
        sys.stdout.write(text)
        return
    write_text(out, text)


@click.command(
    "digest",
    short_help="Post the digest of a day to Slack, once.",
    epilog=format_example("prdigest digest --repo owner/name --date yesterday --dry-run"),
)
@repo_option
@date_option
@timezone_option
@name_option
@click.option("--channel", metavar="C…", help="Id of a Slack channel. Default: PRDIGEST_CHANNEL.")
@click.option("--dry-run", is_flag=True, help="Print the messages as JSON; don't post.")
def digest_command(
    repo: str | None, date: str, timezone: str | None, name: str | None, channel: str | None, *, dry_run: bool
) -> None:
    """Post the digest of a day to Slack, once."""
    with open_command_app() as app:
        selection = _parse_selection(app.settings, repo, date, timezone, name)
        try:
            target = check_channel_id(channel) or app.settings.prdigest_channel
        except ValueError as error:
            raise UsageError(f"--channel can't be used: {error}.") from error

        def render(expected_zone: ZoneInfo | None) -> RenderedDigest:
            # the heading names the zone if readers would expect another
            digest = _build_digest(app, selection, "TERMINAL")
            return render_digest(replace(digest, shows_zone=selection.day.zone != expected_zone))

        if dry_run:
            messages = render(app.settings.prdigest_timezone)
            click.echo(escape_invisible(json.dumps(messages.to_payload(), indent=2, ensure_ascii=False)))
            return
        if target is None:
            raise UsageError("No channel: pass --channel C… or set PRDIGEST_CHANNEL.")
        app.claim_store()
        from bot.features.subscriptions.schedule import post_digest  # noqa: PLC0415

        selection = selection._replace(repository=find_kept_repository(app, repo))
        span, zone = Span(selection.day.date, selection.day.date, selection.day.zone), app.get_channel_zone(target)
        published = post_digest(app, DigestSpec(target, selection.repository, span), lambda: render(zone))
    for note in published.notes:
        click.echo(note, err=True)
    click.echo(f"{'Already posted' if published.was_posted else 'Posted'}: {published.record.permalink}")


@click.command(
    "summary", short_help="Summarize one pull request.", epilog=format_example("prdigest summary owner/name#35617")
)
@click.argument("pull_request", metavar="NUMBER")
@repo_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def summary_command(pull_request: str, repo: str | None, *, as_json: bool) -> None:
    """Summarize one pull request."""
    with open_command_app() as app:
        default = find_repository(app.settings, repo)
        reference = parse_reference(pull_request, default, app.settings.github_web_url)
        from bot.features.summaries.service import build_entry, refresh_summary  # noqa: PLC0415

        pull = app.pulls.fetch_pull_request(reference.repository, reference.number)
        entry = build_entry(app, refresh_summary(app, pull))
    values = build_summary_json(entry) if as_json else None
    text = json.dumps(values, indent=2, ensure_ascii=False) if values else ""
    click.echo(escape_invisible(text) or format_summary(entry))


class _DigestSelection(NamedTuple):
    repository: Repository
    day: LocalDay
    name: str


def _parse_selection(
    settings: Settings, repo: str | None, date: str, timezone: str | None, name: str | None
) -> _DigestSelection:
    from bot.connections.sources import get_display_name  # noqa: PLC0415

    repository, zone = require_repository(settings, repo), choose_zone(settings, timezone)
    day = parse_day(date, get_today(get_current_time(), zone))
    return _DigestSelection(repository, day, name or get_display_name(settings, repository))


def _check_report_options(since: str | None, until: str | None, out: Path | None, *, again: bool) -> None:
    """Raise UsageError for options that don't go together, and for a file that can't be written."""
    if since is None:
        if until or again:
            raise UsageError("--until and --again are for several days: pass --since with the first one.")
        if out and out.is_dir():
            raise UsageError(f"{out} is a folder: pass --since with the first day, or name a file.")
        check_writable(out)
        return
    if click.get_current_context().get_parameter_source("date") is not ParameterSource.DEFAULT:
        raise UsageError("--date is one day, --since the first of several: choose one of them.")
    if out is None:
        raise UsageError("Several reports need a folder: pass --out with a new or empty one.")


def _write_reports(app: App, first: _DigestSelection, until: str | None, out: Path, *, again: bool) -> None:
    """Write the reports from a day on. Raises UsageError, and PrdigestError if a day could not be made."""
    from bot.features.report import write_reports  # noqa: PLC0415

    zone = first.day.zone
    last = parse_day(until or "yesterday", get_today(get_current_time(), zone)).date
    if last < first.day.date:
        raise UsageError(f"There is no day from {first.day.date} to {last}: exchange or correct the dates.")
    span = Span(first.day.date, last, zone)
    _note_missing_model(app)
    with show_progress_bar() as progress:
        run = write_reports(app, out, first.repository, span, first.name, progress, again=again)
    click.echo(f"{out} has {format_count(run.days, 'day')}; {run.made:,} made now.")
    for date, reason in run.failures:
        click.echo(f"{date}: {reason}", err=True)
    if run.failures:
        raise PrdigestError(
            f"{format_count(len(run.failures), 'day')} could not be made: run the same command again."
        )


def _build_digest(app: App, selection: _DigestSelection, use: Literal["REPORT", "TERMINAL"]) -> Digest:
    from bot.features.digest.service import DigestUse, build_digest  # noqa: PLC0415

    _note_missing_model(app)
    with show_progress_bar() as progress:
        return build_digest(app, *selection, use=DigestUse[use], progress=progress)


def _note_missing_model(app: App) -> None:
    if app.sources.model is None:
        click.echo(_NO_MODEL_NOTE.format(app.provider.key_variable), err=True)


# --- from what the bot has read

_profile_option = click.option(
    "--profile", default="", metavar="NAME", help="Name of a profile: what touches its code comes first."
)


@click.group("risks", help="Measure how good the risk list is.", epilog=format_example("prdigest risks score 90d"))
def risks_group() -> None:
    pass


@risks_group.command(
    "score",
    short_help="Print how good the lists of the posted digests were.",
    epilog=format_example("prdigest risks score 90d"),
)
@click.argument("days", default=DEFAULT_SCORE_SPAN, metavar="[DAYS]")
@repo_option
@timezone_option
def score_command(days: str, repo: str | None, timezone: str | None) -> None:
    """Print how good the lists of the posted digests were, for DAYS such as 90d or 2026-01-01..2026-03-31."""
    with open_command_app() as app:
        repository, zone = require_repository(app.settings, repo), choose_zone(app.settings, timezone)
        request = ScoreRequest.parse(days, AllowedRepositories(repository), get_today(get_current_time(), zone))
        from bot.features.risks.service import score_lists  # noqa: PLC0415

        score = score_lists(app, find_kept_repository(app, repo), request.span)
        click.echo(f"{repository}, {request.span.title}\n\n{format_score(score)}")


@click.command(
    "since",
    short_help="Print one page on all that was merged since a day.",
    epilog=format_example("prdigest since 2026-11-01 --repo owner/name"),
)
@click.argument("day")
@repo_option
@timezone_option
@_profile_option
def since_command(day: str, repo: str | None, timezone: str | None, profile: str) -> None:
    """Print one page on all that was merged since DAY, from what was read before. No model is asked."""
    with open_command_app() as app:
        from bot.features.digest.since import build_since_page, render_since  # noqa: PLC0415
        from bot.features.touches.service import find_profile  # noqa: PLC0415

        repository, zone = find_kept_repository(app, repo), choose_zone(app.settings, timezone)
        app.repositories = AllowedRepositories(repository, web=app.settings.github_web_url)
        text = f"{day} profile:{profile}" if profile else day
        request = SinceRequest.parse(text, app.repositories, get_today(get_current_time(), zone))
        shown = find_profile(app, request.profile, repository)
        page = build_since_page(app, repository, request.span, shown)
    click.echo(format_message(render_since(page)))


@click.command(
    "deprecations",
    short_help="Print what a repository has said that it will remove.",
    epilog=format_example("prdigest deprecations --repo owner/name"),
)
@repo_option
@_profile_option
def deprecations_command(repo: str | None, profile: str) -> None:
    """Print what a repository has said that it will remove, of the merges that the bot has read."""
    with open_command_app() as app:
        from bot.features.touches.contracts import list_deprecations  # noqa: PLC0415

        repository = find_kept_repository(app, repo)
        kept = app.profiles.get_profile(profile.lower()) if profile else None
        entries = list_deprecations(app, repository, kept)
    click.echo(terminal.format_deprecations(entries))
