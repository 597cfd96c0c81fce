"""Addresses of messages in Slack."""

from __future__ import annotations

import logging

from bot.domain.errors import SlackCallRefused, SlackUnavailable
from bot.ports import Messenger

log = logging.getLogger(__name__)


def find_permalink(messenger: Messenger, channel: str, message: str) -> str:
    """Return the address of a message; empty if Slack does not give it, which is logged."""
    try:
        return messenger.fetch_permalink(channel, message)
    except (SlackCallRefused, SlackUnavailable) as error:
        log.info("no address of message %s in %s: %s", message, channel, error)
        return ""
