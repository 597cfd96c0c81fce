"""Sentences about what is deleted of a person or a channel, and what is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.domain.keyspace.forgotten_ids import ForgottenIds
from bot.domain.text.strings import format_count
from bot.ports.store.eraser import ErasureCount


def format_plan(name: str, ids: ForgottenIds, counts: Mapping[str, ErasureCount]) -> Iterator[str]:
    """Yield the lines that say what would be deleted about the id ``name``."""
    also = sorted(ids.channels - {name})
    title = " and the direct messages ".join([name, ", ".join(also)]) if also else name
    if not counts:
        yield f"Nothing is stored about {title}."
        return
    yield f"This is stored about {title}:"
    for content, count in counts.items():
        deeds = (
            f"{count.removed:,} to delete" if count.removed else "",
            f"{count.redacted:,} to keep without the id" if count.redacted else "",
        )
        yield f"  {content}: {', '.join(filter(None, deeds))}"


def list_remains(unread: int, *, is_in_settings: bool) -> Iterator[str]:
    """Yield the sentences about what the bot can't delete, and why. ``unread`` threads could not be read."""
    if unread:
        yield (
            f"Not read in Slack: {format_count(unread, 'thread')}. Their questions are stored without names, so "
            "some may be this person's."
        )
    if is_in_settings:
        yield "Your settings name this channel: change them, or the bot posts there again."
    yield "Not deleted: messages in Slack, logs, and backups that you made."
