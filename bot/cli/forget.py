"""The command that deletes what is stored about a person or a channel."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from bot.cli.base import open_command_app, show_progress_bar
from bot.cli.grouped_help import format_example
from bot.domain.errors import UsageError
from bot.domain.keyspace.forgotten_ids import is_channel_id, is_user_id
from bot.render.operations import forgetting as render

if TYPE_CHECKING:
    from bot.services.operations.forgetting import ForgetPlan, Forgetting
    from bot.settings import Settings


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
    name = _require_id(user, channel)
    with open_command_app() as app:
        # it imports the SDKs, which takes most of a second; help must not wait for them
        forgetting = app.forgetting
        plan = _make_plan(forgetting, name, is_user=bool(user))
        for line in render.format_plan(name, plan.ids, plan.counts):
            click.echo(line)
        if plan.counts:
            is_agreed = is_confirmed or _ask_for_consent()
            if is_agreed:
                forgetting.carry_out(plan)
            click.echo("Deleted." if is_agreed else "Nothing was deleted.")
        for line in render.list_remains(plan.unread, is_in_settings=_is_in_settings(app.settings, name)):
            click.echo(line)


def _require_id(user: str | None, channel: str | None) -> str:
    """Return the id that was given. Raises UsageError if it has not the form of one."""
    if user and not is_user_id(user):
        raise UsageError("--user takes the id of a person: U0123ABCD, in their profile under Copy member ID.")
    if channel and not is_channel_id(channel):
        raise UsageError("--channel takes the id of a channel: C0123ABCD, at the bottom of its About tab.")
    return user or channel or ""


def _ask_for_consent() -> bool:
    """Return whether the user agrees. Raises UsageError if nobody can answer."""
    try:
        return click.confirm("Delete it?")
    except click.Abort as error:
        raise UsageError("Nothing was deleted: answer y, or add --yes.") from error


def _make_plan(forgetting: Forgetting, name: str, *, is_user: bool) -> ForgetPlan:
    """Return what is stored about an id."""
    with show_progress_bar("thread", "Threads") if is_user else nullcontext() as show:
        return forgetting.plan_user(name, show) if show else forgetting.plan_channel(name)


def _is_in_settings(settings: Settings, name: str) -> bool:
    """Return whether the settings name an id, so that the bot stores something about it again."""
    return name in (settings.prdigest_channel, settings.prdigest_admin_channel)
