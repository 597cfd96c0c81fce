"""``/prsummary 35617``: one pull request, or a few."""

from __future__ import annotations

from dataclasses import asdict

from bot.domain.conversations.commands import MOST_PULLS, SummaryRequest
from bot.domain.conversations.slack_request import Audience, Visit
from handlers.intake import Desk

USAGE = (
    "Ask for a pull request: `/prsummary 35617`, `#35617`, `owner/repo#35617` or its address, "
    f"up to {MOST_PULLS} at a time. Everybody here sees the answer; add `private` to keep it to yourself."
)


def accept(desk: Desk, visit: Visit, text: str, audience: Audience = Audience.CHANNEL) -> str:
    """Put a summary on its queue. Raises UsageError, StoreUnavailable."""
    request = SummaryRequest.parse(text, desk.repositories)
    wanted = Audience.ASKER if request.is_private else audience
    desk.queues.summary.send(asdict(visit), str(request), str(wanted))
    named = ", ".join(f"#{reference.number}" for reference in request.references)
    return f"Looking at {named}…"
