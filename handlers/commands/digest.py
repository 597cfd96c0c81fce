"""``/prdigest``: the digest of a day in this channel, once, or several days as one overview."""

from __future__ import annotations

from dataclasses import asdict, replace
from zoneinfo import ZoneInfo

from bot.domain.conversations.commands import LONGEST_OVERVIEW, DigestRequest
from bot.domain.conversations.slack_request import Audience, Visit
from handlers.commands import subscriptions
from handlers.intake import Desk

USAGE = (
    "Get the digest here: `/prdigest` for yesterday's, `/prdigest 2026-02-28`; `today` so far, `7d` or "
    f"`2026-02-24..2026-02-28` as one overview (up to {LONGEST_OVERVIEW} days); `repo:owner/name` for another "
    "repository; `private` to keep an overview to yourself.\n" + subscriptions.USAGE
)


def accept(desk: Desk, visit: Visit, text: str, audience: Audience = Audience.CHANNEL) -> str:
    """Put a digest or an overview on its queue. Raises UsageError, StoreUnavailable."""
    verb, *rest = text.split(maxsplit=1) or [""]
    if subscriptions.is_verb(verb):
        return subscriptions.accept(desk, visit, verb, "".join(rest))
    request = _request(desk, text, desk.zone_of(visit.channel))
    wanted = Audience.ASKER if request.is_private else audience
    is_over = request.span.last < desk.today(request.span.zone).date
    if is_over and len(request.span) == 1 and wanted is Audience.CHANNEL:
        day = request.span.days[0]
        desk.queues.digest.send(asdict(visit), str(request.repository), str(day.date), str(day.zone))
        where = f" ({request.zone})" if request.zone else ""
        return f"The digest of {request.span.title}{where} will be here in a minute, if it is not yet."
    desk.queues.overview.send(asdict(visit), str(request), str(wanted))
    return f"Looking at {request.span.title}… Days that nobody asked for before take a minute each."


def _request(desk: Desk, text: str, own: ZoneInfo | None) -> DigestRequest:
    """Days begin where the channel's own digests begin them, unless the text names a zone."""
    request = DigestRequest.parse(text, desk.repositories, desk.today(own), desk.today)
    is_other = request.zone is None and request.span.zone != desk.today().zone
    return replace(request, zone=request.span.zone) if is_other else request
