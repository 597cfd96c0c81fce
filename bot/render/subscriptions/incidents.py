"""Incidents of digests and jobs in one message, for the people in charge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from bot.domain.operations.incident import Incident, IncidentKind
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import Element, make_block, make_bullets, make_section, make_text
from bot.render.subscriptions import sentences

_ID = re.compile(r"[CG][A-Z0-9]+")
_MAX_LINES = 10
_MAX_REASON_LENGTH = 300


def render_incidents(incidents: Sequence[Incident]) -> Post:
    """Render a line for each incident; those that have ended say how."""
    title = _format_title(incidents)
    items = [_render_line(incident) for incident in incidents[:_MAX_LINES]]
    if len(incidents) > _MAX_LINES:
        items.append([make_text(sentences.format_more_incidents(len(incidents) - _MAX_LINES))])
    fallback = ". ".join([title, *map(sentences.format_incident, incidents[:3])])
    return Post(
        escape_mrkdwn(truncate_text(collapse_lines(fallback), 800)),
        (make_block(make_section([make_text(title, bold=True)]), make_bullets(items)),),
    )


def _format_title(incidents: Sequence[Incident]) -> str:
    """Format how many digests and jobs need a look."""
    jobs = sum(incident.kind is IncidentKind.LOST for incident in incidents)
    return sentences.format_incidents_title(digests=len(incidents) - jobs, jobs=jobs)


def _render_line(incident: Incident) -> list[Element]:
    """Return the line of an incident."""
    title = make_text(truncate_text(collapse_lines(incident.title), 200), bold=True)
    where = [make_text(sentences.FOR), render_channel(incident.channel)] if incident.channel else []
    if incident.settled:
        return [
            make_text("✓ "),
            title,
            *where,
            make_text(f": {truncate_text(collapse_lines(incident.settled), _MAX_REASON_LENGTH)}."),
        ]
    reason = truncate_text(collapse_lines(incident.reason).rstrip("."), _MAX_REASON_LENGTH)
    elements = [title, *where, make_text(sentences.format_incident_reason(incident.kind, reason))]
    if incident.retry:
        return [*elements, render_instant(incident.retry, sentences.NEXT_TRY), make_text(".")]
    return [
        *elements,
        *([make_text(sentences.NO_MORE_TRIES)] if incident.kind is IncidentKind.INCOMPLETE else []),
    ]


def render_channel(channel: str) -> Element:
    """Return a channel by its name, which Slack shows to users who may see it; it pings nobody."""
    if channel.startswith("D"):
        return make_text(sentences.DIRECT_MESSAGE)
    # a setting may hold something else, and Slack would refuse the message that reports it
    return (
        {"type": "channel", "channel_id": channel}
        if _ID.fullmatch(channel)
        else make_text(collapse_lines(channel))
    )


def render_instant(instant: datetime, lead: str = "", tail: str = "") -> Element:
    """Return an instant in the time zone of each reader.

    ``lead`` are the words before it in a sentence: without them Slack begins it with a capital letter. ``tail``
    are words behind it that hold for the reader's zone; where Slack can't show that, it is in UTC without them.
    """
    return {
        "type": "date",
        "timestamp": int(instant.timestamp()),
        "format": sentences.format_slack_date(lead, tail),
        "fallback": f"{lead}{instant:%Y-%m-%d %H:%M} UTC",
    }
