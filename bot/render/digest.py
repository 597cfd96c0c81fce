"""A digest as everything that gets posted: lead, thread and the report as a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bot.domain.digest import Digest, Entry
from bot.ports import Attachment, Post
from bot.render.buttons import ask, below, details_of
from bot.render.lead import lead
from bot.render.report import report
from bot.render.thread import thread

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Rendered:
    """What goes to Slack. A day without merges has no thread and no report."""

    lead: Post
    thread: tuple[Post, ...]
    attachment: Attachment | None

    def payload(self) -> dict[str, Any]:
        """The messages as Slack takes them."""
        return {"lead": self.lead.payload(), "thread": [post.payload() for post in self.thread]}


def render(digest: Digest) -> Rendered:
    """Render a digest for Slack."""
    if not digest.entries:
        return Rendered(lead(digest), (), None)
    menu = details_of(entry.pull for entry in _worth_opening(digest))
    return Rendered(below(lead(digest), menu, ask()), thread(digest), _attachment(digest))


def _worth_opening(digest: Digest) -> Iterator[Entry]:
    """What the lead names first, then whatever else a reader may look for."""
    gone = digest.taken_back
    to_act_on = {action.number for action in digest.actions}
    yield from digest.riskiest
    yield from (entry for entry in digest.entries if entry.number in gone | to_act_on)
    yield from (entry for entry in digest.entries if not entry.summary.is_trivial)


def _attachment(digest: Digest) -> Attachment:
    stem = _UNSAFE.sub("-", digest.name).strip("-.") or "report"
    return Attachment(
        name=f"{stem}-{digest.day.date}.md",
        title=f"Full report of {digest.day.date}",
        text=report(digest),
    )
