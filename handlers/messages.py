"""Listeners for messages: mentions of the bot, replies in its threads, and direct messages. It ignores all others.

A mention arrives twice, as ``app_mention`` and as ``message``. The latter is ignored except in group direct
messages, where it has been seen to come alone. A message is answered once, however often it arrives.
"""

from __future__ import annotations

from typing import Any

from slack_bolt import App, BoltContext

from bot.domain.conversations.slack_text import MENTION, restore_user_text
from bot.domain.text.redaction import redact_text
from bot.features.questions.rules import is_for_others, is_remark
from bot.features.questions.service import ATTENTION, Attention, is_listening
from handlers import message_intent, requests
from handlers.commands.registry import CommandRegistry
from handlers.intake import RequestIntake

# subtypes of messages that people write; others are edits, joins and messages of bots
_WRITTEN_SUBTYPES = (None, "file_share", "thread_broadcast")


def register_message_listeners(app: App, intake: RequestIntake, commands: CommandRegistry) -> None:
    """Register the listeners for messages."""

    @app.event("app_mention")
    def handle_mention(body: dict[str, Any], event: dict[str, Any], context: BoltContext) -> None:
        if _is_written(event):
            _handle_message(intake, commands, body, event, str(context.bot_user_id or ""))

    # an event without a listener is a 404 for Slack, which sends it again and in the end stops sending events
    @app.event("message")
    def handle_message(body: dict[str, Any], event: dict[str, Any], context: BoltContext) -> None:
        bot = str(context.bot_user_id or "")
        if _is_written(event) and _is_for_bot(intake, event, bot):
            _handle_message(intake, commands, body, event, bot)


def _is_written(event: dict[str, Any]) -> bool:
    """Return whether a person wrote the message. Other bots are not answered: two of them would never end."""
    return event.get("subtype") in _WRITTEN_SUBTYPES and bool(event.get("user")) and not event.get("bot_id")


def _is_for_bot(intake: RequestIntake, event: dict[str, Any], bot: str) -> bool:
    """Return whether a message without a mention may be for the bot. Raises StoreUnavailable."""
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
    return is_listening(intake.tables, str(event["channel"]), thread, is_own=is_own)


def _has_mention(text: str, bot: str) -> bool:
    """Return whether a text mentions the bot."""
    return any(mention["user"] == bot for mention in MENTION.finditer(text))


def _handle_message(
    intake: RequestIntake, commands: CommandRegistry, body: dict[str, Any], event: dict[str, Any], bot: str
) -> None:
    """Pass a message to the intake."""
    asker, written = requests.parse_message(body, event), str(event.get("text") or "")
    text = redact_text(restore_user_text(written))
    is_mention = event["type"] == "app_mention" or (
        event.get("channel_type") != "im" and _has_mention(written, bot)
    )
    is_named = is_mention or event.get("channel_type") == "im"

    def accept() -> None:
        if is_mention and not event.get("thread_ts"):
            # a person who asks at top level may continue in the thread without naming the bot
            intake.tables.put(ATTENTION, Attention(is_on=True), asker.channel, asker.thread)
        message_intent.accept_message(intake, commands, asker, text, str(event["ts"]), is_named=is_named)

    intake.handle_event(asker, accept, is_named=is_named)
