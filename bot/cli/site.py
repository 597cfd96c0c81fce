"""The command that writes a static site of the days that the bot has read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from bot.cli.base import (
    choose_zone,
    get_current_time,
    name_option,
    open_command_app,
    repo_option,
    require_repository,
    timezone_option,
)
from bot.cli.grouped_help import format_example
from bot.domain.errors import UsageError
from bot.domain.keyspace.keys import SUMMARY_ENTRY
from bot.domain.text.strings import format_count
from bot.domain.time.date_range import Span, parse_day
from bot.domain.time.day import get_today

# as long as summaries are kept
_DEFAULT_DAYS = SUMMARY_ENTRY.lifetime.days


@click.command(
    "site",
    short_help="Write a static site of past days, with feeds.",
    epilog=format_example("prdigest site --repo owner/name --out public"),
)
@click.option(
    "--out",
    metavar="FOLDER",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the site: a new or empty one, or one that this command made.",
)
@repo_option
@timezone_option
@name_option
@click.option("--since", metavar="DAY", help="First day to read again. Default: 90 days ago.")
def site_command(out: Path, repo: str | None, timezone: str | None, name: str | None, since: str | None) -> None:
    """Write pages, a search, an Atom feed, contract changes and a calendar of removals as files.

    They are made of what the bot has read before: nothing is asked of GitHub but its releases, and nothing of the
    model. Only what changed is written. Run it again each day.
    """
    with open_command_app() as app:
        # they import the SDKs, which takes most of a second; help must not wait for them
        from bot.adapters.files.site_folder import open_site_folder  # noqa: PLC0415
        from bot.container.archive import build_archive_reader, build_heading  # noqa: PLC0415
        from bot.services.archive.deadlines import list_deadlines  # noqa: PLC0415
        from bot.services.archive.site_writer import MARKER, write_site  # noqa: PLC0415

        repository, zone = require_repository(app.settings, repo), choose_zone(app.settings, timezone)
        days = build_archive_reader(app).read_days(repository, _choose_span(since, zone))
        if not days:
            raise UsageError(
                f"No merge of {repository} is recorded for these days: run `prdigest backfill --since DAY` first."
            )
        deadlines = list_deadlines(app.deprecations, repository)
        heading = build_heading(app, repository, str(zone), name)
        with open_site_folder(out, MARKER) as folder:
            result = write_site(folder, heading, days, deadlines)
    click.echo(
        f"{out} has {format_count(result.days, 'day')}; {format_count(len(result.written), 'file')} written."
    )


def _choose_span(since: str | None, zone: ZoneInfo) -> Span:
    """Return the days to read, up to yesterday: today is not over. Raises UsageError."""
    today = get_today(get_current_time(), zone)
    last = today.date - timedelta(days=1)
    first = parse_day(since, today).date if since else today.date - timedelta(days=_DEFAULT_DAYS)
    return Span(min(first, last), last, zone)
