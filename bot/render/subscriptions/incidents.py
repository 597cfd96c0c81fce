"""Incidents of digests and jobs in one message, for the people in charge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from bot.domain.operations.incident import Incident, Kind
from bot.domain.text.strings import one_line, plural, shorten
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import Element, block, bullets, section, text

_ID = re.compile(r"[CG][A-Z0-9]+")
_MOST = 10
_REASON = 300
_WORDS = {
    Kind.MISSING: "is not posted yet",
    Kind.SKIPPED: "will not be posted",
    Kind.INCOMPLETE: "was posted incomplete",
    Kind.LOST: "was given up",
}


def incidents_post(incidents: Sequence[Incident]) -> Post:
    """Render a line for each incident; those that have ended say how."""
    title = _title(incidents)
    items = [_line(incident) for incident in incidents[:_MOST]]
    if len(incidents) > _MOST:
        items.append([text(f"and {len(incidents) - _MOST} more: prdigest doctor lists them")])
    fallback = ". ".join([title, *(f"{incident.title}: {_WORDS[incident.kind]}" for incident in incidents[:3])])
    return Post(
        escape(shorten(one_line(fallback), 800)), (block(section([text(title, bold=True)]), bullets(items)),)
    )


def _title(incidents: Sequence[Incident]) -> str:
    """Format how many digests and jobs need a look."""
    jobs = sum(incident.kind is Kind.LOST for incident in incidents)
    digests = len(incidents) - jobs
    counts = [plural(digests, "digest")] * bool(digests) + [plural(jobs, "job")] * bool(jobs)
    return f"{' and '.join(counts)} {'needs' if len(incidents) == 1 else 'need'} a look"


def _line(incident: Incident) -> list[Element]:
    """Return the line of an incident."""
    title = text(shorten(one_line(incident.title), 200), bold=True)
    where = [text(" for "), place(incident.channel)] if incident.channel else []
    if incident.settled:
        return [text("✓ "), title, *where, text(f": {shorten(one_line(incident.settled), _REASON)}.")]
    reason = shorten(one_line(incident.reason).rstrip("."), _REASON)
    elements = [title, *where, text(f" {_WORDS[incident.kind]}: {reason}. ")]
    if incident.retry:
        return [*elements, moment(incident.retry, "Next try "), text(".")]
    return [*elements, *([text("There will be no more tries.")] if incident.kind is Kind.INCOMPLETE else [])]


def place(channel: str) -> Element:
    """Return a channel by its name, which Slack shows to users who may see it; it pings nobody."""
    if channel.startswith("D"):
        return text("a direct message")
    # a setting may hold something else, and Slack would refuse the message that reports it
    return {"type": "channel", "channel_id": channel} if _ID.fullmatch(channel) else text(one_line(channel))


def moment(instant: datetime, lead: str = "") -> Element:
    """Return an instant in the time zone of each reader.

    ``lead`` are the words before it in a sentence: without them Slack begins it with a capital letter.
    """
    return {
        "type": "date",
        "timestamp": int(instant.timestamp()),
        "format": f"{lead}{{date_short_pretty}} at {{time}}",
        "fallback": f"{lead}{instant:%Y-%m-%d %H:%M} UTC",
    }
