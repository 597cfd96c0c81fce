"""Messages: those that name the bot, replies in its threads, and direct messages. Others are taken silently.

A message that names the bot arrives twice, as ``app_mention`` and as ``message``: the latter is not looked at,
except in group direct messages, where it has been seen to come alone. Whatever comes is answered once.
"""

from __future__ import annotations

from typing import Any

from slack_bolt import App, BoltContext

from bot.domain.conversations.slack_text import restore_user_text
from bot.domain.conversations.thread import MENTION, is_for_others, is_remark
from bot.domain.text.redaction import redact_text
from handlers import message_intent, requests
from handlers.commands.registry import CommandRegistry
from handlers.intake import RequestIntake

# what people write; other kinds are edits, joins and what bots say
_WRITTEN_SUBTYPES = (None, "file_share", "thread_broadcast")


def register_message_listeners(app: App, intake: RequestIntake, commands: CommandRegistry) -> None:
    """Listen to messages."""

    @app.event("app_mention")
    def mention(body: dict[str, Any], event: dict[str, Any], context: BoltContext) -> None:
        if _is_written(event):
            _handle_message(intake, commands, body, event, str(context.bot_user_id or ""))

    # an event that nobody claims is a 404 to Slack, which sends it again and in the end stops sending any
    @app.event("message")
    def message(body: dict[str, Any], event: dict[str, Any], context: BoltContext) -> None:
        bot = str(context.bot_user_id or "")
        if _is_written(event) and _is_for_bot(intake, event, bot):
            _handle_message(intake, commands, body, event, bot)


def _is_written(event: dict[str, Any]) -> bool:
    """By a person: other bots are not answered, two of them would never end."""
    return event.get("subtype") in _WRITTEN_SUBTYPES and bool(event.get("user")) and not event.get("bot_id")


def _is_for_bot(intake: RequestIntake, event: dict[str, Any], bot: str) -> bool:
    """Whether a message that may name nobody is for the bot. Raises StoreUnavailable."""
    text = str(event.get("text") or "")
    if event.get("channel_type") == "im":
        return True
    thread, is_named = str(event.get("thread_ts") or ""), _has_mention(text, bot)
    if event.get("channel_type") == "mpim" and is_named:
        return True
    if not thread or is_named:
        return False
    if is_remark(text) or is_for_others(text, bot):
        return False
    is_own = event.get("parent_user_id") == bot
    return intake.thread_muting.is_listening(str(event["channel"]), thread, is_own=is_own)


def _has_mention(text: str, bot: str) -> bool:
    return any(found["user"] == bot for found in MENTION.finditer(text))


def _handle_message(
    intake: RequestIntake, commands: CommandRegistry, body: dict[str, Any], event: dict[str, Any], bot: str
) -> None:
    asker, written = requests.parse_message(body, event), str(event.get("text") or "")
    text = redact_text(restore_user_text(written))
    is_mention = event["type"] == "app_mention" or (
        event.get("channel_type") != "im" and _has_mention(written, bot)
    )
    is_named = is_mention or event.get("channel_type") == "im"

    def accept() -> None:
        if is_mention and not event.get("thread_ts"):
            # whoever asks at top level may go on in the thread without the bot's name
            intake.thread_muting.start_thread(asker.channel, asker.thread)
        message_intent.accept_message(intake, commands, asker, text, str(event["ts"]), is_named=is_named)

    intake.handle_event(asker, accept, is_named=is_named)
