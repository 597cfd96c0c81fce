"""Metadata of the bot's messages, by which they are found again and a thread knows its subject.

Readers of the channel do not see it. Slack stores an event type with it, which serves as the version of this
payload: another shape takes another type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EVENT_TYPE = "prdigest"


@dataclass(frozen=True, slots=True)
class PostMetadata:
    """The ``key`` of a message's post, and the subject that it is ``about``; both may be empty."""

    key: str = ""
    about: str = ""


def write_metadata(metadata: PostMetadata) -> dict[str, Any]:
    """Return the value for Slack's ``metadata``."""
    about = {"about": metadata.about} if metadata.about else {}
    return {"event_type": EVENT_TYPE, "event_payload": {"key": metadata.key, **about}}


def read_metadata(message: Mapping[str, Any]) -> PostMetadata:
    """Return the metadata of a message, empty if it has none of this type."""
    metadata = message.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    if metadata.get("event_type") != EVENT_TYPE:
        return PostMetadata()
    return PostMetadata(str(payload.get("key", "")), str(payload.get("about", "")))
