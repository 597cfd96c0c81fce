from __future__ import annotations

import logging
import sys

import click

from bot.cli.base import (
    choose_zone,
    find_kept_repository,
    format_example,
    get_current_time,
    open_command_app,
    repo_option,
    show_progress_bar,
    timezone_option,
)
from bot.dates import Span, get_today, parse_day
from bot.errors import PrdigestError, UsageError
from bot.settings import Settings
from bot.text import format_count

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
        if not (facts or app.sources.has_model):
            click.echo(f"{app.provider.key_variable} is not set: loading history and files only.", err=True)
        limit = backfill.CostLimit(max_cost) if app.sources.has_model and not facts else None
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
