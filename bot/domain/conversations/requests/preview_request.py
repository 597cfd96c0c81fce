"""Requests about previews of links: turn them on or off in a conversation, or ask whether they are on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.errors import UsageError
from bot.domain.text.strings import quote_input

PREVIEWS_WORD = "previews"


class PreviewAction(StrEnum):
    """What somebody asks for."""

    ON = "on"
    OFF = "off"
    ASK = "ask"


def parse_preview_action(text: str) -> PreviewAction:
    """Parse the text after the word. Raises UsageError."""
    word = text.strip().lower()
    if not word:
        return PreviewAction.ASK
    if word not in (PreviewAction.ON, PreviewAction.OFF):
        raise UsageError(f"I don't understand {quote_input(text)}: write previews on or previews off.")
    return PreviewAction(word)


@dataclass(frozen=True, slots=True)
class PreviewSwitch:
    """Whether links of a conversation get previews, who decided that, and when (aware)."""

    is_on: bool
    user: str
    at: datetime
