"""``prdigest risks``: how good the lists of the posted digests were."""

from __future__ import annotations

import click

from bot.cli.base import (
    choose_zone,
    get_current_time,
    open_command_app,
    repo_option,
    require_repository,
    timezone_option,
)
from bot.cli.grouped_help import format_example
from bot.dates import get_today
from bot.features.merges.requests import DEFAULT_SCORE_SPAN, ScoreRequest
from bot.features.risks.view import format_score
from bot.platform.commands import AllowedRepositories


@click.group("risks", help="Measure how good the risk list is.", epilog=format_example("prdigest risks score 90d"))
def risks_group() -> None:
    """Group the commands about the risk list."""


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
        # what asks nobody imports no client of the store
        from bot.features.risks.service import score_lists  # noqa: PLC0415

        score = score_lists(app, request.repository, request.span)
        click.echo(f"{repository}, {request.span.title}\n\n{format_score(score)}")
