"""The text of Slack messages, converted to the text that people typed."""

from __future__ import annotations

import html
import re

MENTION = re.compile(r"<@(?P<user>[A-Z0-9]+)(?:\|[^<>]*)?>")
# Slack turns addresses in messages into links, and everything that looks like one: <http://setup.py|setup.py>
_LINK = re.compile(r"<(?P<address>(?:https?://|mailto:)[^<>|\s]+)(?:\|(?P<label>[^<>]*))?>")


def restore_user_text(text: str) -> str:
    """Return the text of a user's message as they typed it, without mentions."""
    return html.unescape(_LINK.sub(_restore_link, MENTION.sub(" ", text))).strip()


def _restore_link(match: re.Match[str]) -> str:
    """Return the label if Slack derived the address from it, else the address."""
    address, label = match["address"], match["label"] or ""
    label_addresses = address in {f"{scheme}{label}" for scheme in ("http://", "https://", "mailto:")}
    return label if label_addresses else address


def restore_bot_text(text: str) -> str:
    """Return the text of the bot's own message, with links replaced by their labels."""
    return html.unescape(_LINK.sub(lambda match: match["label"] or "", text)).strip()
