"""The commands that build something from a day or a pull request, and print or post it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from bot.cli.base import (
    date_option,
    name_option,
    named_repository,
    now,
    progress_bar,
    repo_option,
    timezone_option,
    wanted_repository,
    wanted_zone,
    wired,
)
from bot.domain.digest.models import Digest
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.reference import parse_reference
from bot.domain.subscriptions.models import DigestSpec
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay, date_of, yesterday
from bot.render.blocks import terminal
from bot.render.digest.post import Rendered, render
from bot.render.digest.report import report
from bot.render.summaries.summary_json import summary_json
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.container import Wiring
    from bot.services.digest.builder import DailyDigest

_WITHOUT_MODEL = "{} is not set: summaries are made of facts alone."


@click.command("report")
@repo_option
@date_option
@timezone_option
@name_option
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="File to write; stdout if not given.")
def report_command(
    repo: str | None, date: str | None, timezone: str | None, name: str | None, out: Path | None
) -> None:
    """Write the Markdown report of a local day."""
    with wired() as (settings, wiring):
        selection = _wanted(settings, repo, date, timezone, name)
        text = report(_digest(wiring, wiring.daily_for_reports, selection))
    if out is None:
        sys.stdout.write(text)
        return
    try:
        out.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{out} can't be written ({error.strerror}): choose another file.") from error


@click.command("digest")
@repo_option
@date_option
@timezone_option
@name_option
@click.option("--channel", metavar="C…", help="Id of a Slack channel; PRDIGEST_CHANNEL if not given.")
@click.option("--dry-run", is_flag=True, help="Print the messages as JSON and call no Slack.")
def digest_command(
    repo: str | None,
    date: str | None,
    timezone: str | None,
    name: str | None,
    channel: str | None,
    *,
    dry_run: bool,
) -> None:
    """Build the digest of a local day and post it to Slack, once."""
    with wired() as (settings, wiring):
        selection = _wanted(settings, repo, date, timezone, name)
        if dry_run:
            names_zone = selection.day.zone != settings.prdigest_timezone
            messages = _rendered(wiring, selection, names_zone=names_zone)
            click.echo(json.dumps(messages.payload(), indent=2, ensure_ascii=False))
            return
        target = channel or settings.prdigest_channel
        if target is None:
            raise UsageError("To which channel? Give --channel C… or set PRDIGEST_CHANNEL.")
        wiring.ownership.claim()
        span = Span(selection.day.date, selection.day.date, selection.day.zone)
        spec = DigestSpec(target, selection.repository, span)
        names_zone = wiring.scheduling.composer.names_zone(spec)
        published = wiring.scheduling.delivery.publish(
            spec, lambda: _rendered(wiring, selection, names_zone=names_zone)
        )
    for note in published.notes:
        click.echo(note, err=True)
    click.echo(f"{'Was already posted' if published.already else 'Posted'}: {published.address}")


@click.command("summary")
@click.argument("pull_request", metavar="NUMBER")
@repo_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def summary_command(pull_request: str, repo: str | None, *, as_json: bool) -> None:
    """Summarise one pull request: 35617, owner/repo#35617 or its address."""
    with wired() as (settings, wiring):
        default = named_repository(settings, repo)
        reference = parse_reference(pull_request, default, settings.github_web)
        entry = wiring.entries.read_and_rate(wiring.pulls.pull(reference.repository, reference.number))
    text = json.dumps(summary_json(entry), indent=2, ensure_ascii=False) if as_json else terminal.summary(entry)
    click.echo(text)


class _Wanted(NamedTuple):
    """The digest that the options select."""

    repository: Repository
    day: LocalDay
    name: str


def _wanted(
    settings: Settings, repo: str | None, date: str | None, timezone: str | None, name: str | None
) -> _Wanted:
    """Return what options, then settings, select; without a date, the last day that is over. Raises UsageError."""
    repository, zone = wanted_repository(settings, repo), wanted_zone(settings, timezone)
    day = LocalDay(date_of(date), zone) if date else yesterday(now(), zone)
    return _Wanted(repository, day, name or settings.prdigest_name or repository.name)


def _rendered(wiring: Wiring, selection: _Wanted, *, names_zone: bool) -> Rendered:
    """Render the messages of a digest; its heading names the zone if readers would expect another."""
    return render(replace(_digest(wiring, wiring.daily, selection), names_zone=names_zone))


def _digest(wiring: Wiring, daily: DailyDigest, selection: _Wanted) -> Digest:
    """Build the digest with a progress bar; say on stderr if there is no model."""
    if not wiring.has_model:
        click.echo(_WITHOUT_MODEL.format(wiring.provider.key_variable), err=True)
    with progress_bar() as progress:
        return daily.build(selection.repository, selection.day, selection.name, progress)
