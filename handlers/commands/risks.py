"""``/prrisks 7d path:vllm/v1``: what was taken back in some days, and what deserves a second look.

``/prrisks score 90d``: how good such lists were.
"""

from __future__ import annotations

from dataclasses import asdict

from bot.domain.conversations.commands import (
    LONGEST_RISKS,
    LONGEST_SCORE,
    MOST_RISKS,
    RisksRequest,
    ScoreRequest,
    is_score,
)
from bot.domain.conversations.slack_request import Audience, Visit
from bot.render.blocks.mrkdwn import escape
from handlers.intake import Desk

USAGE = (
    "Ask what may hurt: `/prrisks`, `/prrisks today`, `7d`, `2026-02-28` or `2026-02-24..2026-02-28` "
    f"(up to {LONGEST_RISKS} days), narrowed by `path:vllm/v1`, `author:name`, `label:bug`, `repo:owner/name`; "
    f"`top:{MOST_RISKS}` lists as many, also those that don't stand out, `private` keeps it to yourself. "
    f"`/prrisks score 90d` says how good my lists were (up to {LONGEST_SCORE} days)."
)

# the files of more than a hundred pull requests may have to be asked for; quick answers shall not wait behind that
_FEW_DAYS = 3


def accept(desk: Desk, visit: Visit, text: str, audience: Audience = Audience.CHANNEL) -> str:
    """Put a risk list, or how good such lists were, on its queue. Raises UsageError, StoreUnavailable."""
    if is_score(text):
        return _accept_score(desk, visit, text, audience)
    request = RisksRequest.parse(text, desk.repositories, desk.today())
    wanted = Audience.ASKER if request.is_private else audience
    queue = desk.queues.risks if len(request.span) <= _FEW_DAYS else desk.queues.long_risks
    queue.send(asdict(visit), str(request), str(wanted))
    narrowed = f", {request.filters}" if request.filters else ""
    return escape(f"Looking at {request.repository}, {request.span.title}{narrowed}…")


def _accept_score(desk: Desk, visit: Visit, text: str, audience: Audience) -> str:
    request = ScoreRequest.parse(text, desk.repositories, desk.today())
    wanted = Audience.ASKER if request.is_private else audience
    desk.queues.score.send(asdict(visit), str(request), str(wanted))
    return escape(f"Looking at what became of the lists of {request.repository}, {request.span.title}…")
