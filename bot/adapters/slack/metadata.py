"""What the bot's messages carry, so that they are found again and a thread knows what it is about.

Readers of the channel do not see it. Slack keeps an event type with it, which is the version of this shape of the
payload: another shape takes another type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EVENT_TYPE = "prdigest"


@dataclass(frozen=True, slots=True)
class PostMetadata:
    """The ``key`` of what a message is part of, and what the message is ``about``; empty where it says neither."""

    key: str = ""
    about: str = ""


def write_metadata(metadata: PostMetadata) -> dict[str, Any]:
    """Return it as Slack's ``metadata``."""
    about = {"about": metadata.about} if metadata.about else {}
    return {"event_type": EVENT_TYPE, "event_payload": {"key": metadata.key, **about}}


def read_metadata(message: Mapping[str, Any]) -> PostMetadata:
    """Return what a message carries; nothing for one that carries none of this type."""
    metadata = message.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    if metadata.get("event_type") != EVENT_TYPE:
        return PostMetadata()
    return PostMetadata(str(payload.get("key", "")), str(payload.get("about", "")))
