"""The record of a preview, so that a conversation gets at most one for the same link."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bot.ports.codecs.record_codec import INSTANT, TEXT, Record, RecordCodec, declare_field


@dataclass(frozen=True, slots=True)
class LinkPreview(Record):
    """The preview of a link in a conversation: the first message with the link has it.

    It is planned before Slack is called, and ended after that. An attempt for the same ``message`` may go on,
    since Slack then replaces the card; for another message there is nothing to do.
    """

    message: str = declare_field("message", TEXT)
    ended_at: datetime | None = declare_field("ended", INSTANT)

    def may_show(self, message: str) -> bool:
        """Return whether the link of a message may get a card."""
        return not self.message or (self.message == message and self.ended_at is None)

    def plan(self, message: str) -> LinkPreview:
        """Return the record of a link that is about to get its card."""
        return replace(self, message=message)

    def end(self, at: datetime) -> LinkPreview:
        """Return the record of a link that has its card, or never gets one."""
        return replace(self, ended_at=at)


LINK_PREVIEW_CODEC = RecordCodec(LinkPreview, version=1)
