"""Texts as Slack has them, read as people typed them."""

from __future__ import annotations

import html
import re

from bot.domain.conversations.thread import MENTION

# Slack makes links of addresses in messages, and of whatever looks like one: <http://setup.py|setup.py>
_LINK = re.compile(r"<(?P<address>(?:https?://|mailto:)[^<>|\s]+)(?:\|(?P<label>[^<>]*))?>")


def restore_user_text(text: str) -> str:
    """What a person typed besides names, as they typed it."""
    return html.unescape(_LINK.sub(_restore_link, MENTION.sub(" ", text))).strip()


def _restore_link(match: re.Match[str]) -> str:
    """The label where Slack made the address of it, else the address."""
    address, label = match["address"], match["label"] or ""
    label_addresses = address in {f"{scheme}{label}" for scheme in ("http://", "https://", "mailto:")}
    return label if label_addresses else address


def restore_bot_text(text: str) -> str:
    """What the bot itself wrote, with the labels of its links alone."""
    return html.unescape(_LINK.sub(lambda match: match["label"] or "", text)).strip()
