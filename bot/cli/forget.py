"""The command that deletes what is stored about a person or a channel."""

from __future__ import annotations

import click

from bot.cli.base import open_command_app, show_progress_bar
from bot.cli.grouped_help import format_example
from bot.errors import UsageError
from bot.platform.store.forgotten_ids import is_channel_id, is_user_id


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
        # they import the SDKs, which takes most of a second; help must not wait for them
        from bot.features import import_features  # noqa: PLC0415
        from bot.features.forget import carry_out, plan_channel, plan_user  # noqa: PLC0415

        import_features()
        if user:
            with show_progress_bar("thread", "Threads") as show:
                plan = plan_user(app, user, show)
        else:
            plan = plan_channel(app, name)
        for line in plan.describe():
            click.echo(line)
        if plan.counts:
            is_agreed = is_confirmed or _ask_for_consent()
            if is_agreed:
                carry_out(app, plan)
            click.echo("Deleted." if is_agreed else "Nothing was deleted.")
        for line in plan.describe_remains(app):
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
