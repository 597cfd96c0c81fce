"""The commands for people who come back or move on: one page since a day, and what will be removed."""

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
from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.requests.plan_requests import SinceRequest
from bot.domain.time.day import get_today
from bot.features.digest.stories import render_since
from bot.render.blocks import terminal
from bot.render.contract.deprecations import format_deprecations

profile_option = click.option(
    "--profile", default="", metavar="NAME", help="Name of a profile: what touches its code comes first."
)


@click.command(
    "since",
    short_help="Print one page on all that was merged since a day.",
    epilog=format_example("prdigest since 2026-11-01 --repo owner/name"),
)
@click.argument("day")
@repo_option
@timezone_option
@profile_option
def since_command(day: str, repo: str | None, timezone: str | None, profile: str) -> None:
    """Print one page on all that was merged since DAY, from what was read before. No model is asked."""
    with open_command_app() as app:
        # it imports the SDKs, which takes most of a second; help must not wait for them
        repository, zone = require_repository(app.settings, repo), choose_zone(app.settings, timezone)
        allowed = AllowedRepositories(repository, web=app.settings.github_web_url)
        text = f"{day} profile:{profile}" if profile else day
        request = SinceRequest.parse(text, allowed, get_today(get_current_time(), zone))
        plans = app.plan_answers
        post = render_since(plans.build_page(request, allowed))
    click.echo(terminal.format_message(post))


@click.command(
    "deprecations",
    short_help="Print what a repository has said that it will remove.",
    epilog=format_example("prdigest deprecations --repo owner/name"),
)
@repo_option
@profile_option
def deprecations_command(repo: str | None, profile: str) -> None:
    """Print what a repository has said that it will remove, of the merges that the bot has read."""
    with open_command_app() as app:
        # it imports the SDKs, which takes most of a second; help must not wait for them
        repository = require_repository(app.settings, repo)
        kept = app.profiles.get_profile(profile.lower()) if profile else None
        entries = app.deprecations.list_entries(repository, kept)
    click.echo(format_deprecations(entries))
