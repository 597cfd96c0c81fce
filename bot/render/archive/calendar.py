"""The calendar of removals (RFC 5545): an all-day event for each deadline that is known."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable

from icalendar import Calendar, Event

from bot.domain.archive.models import ArchiveHeading, RemovalDeadline
from bot.render.archive.sentences import describe_deadline, format_deadline_title


def render_calendar(deadlines: Iterable[RemovalDeadline], heading: ArchiveHeading) -> bytes:
    """Render the calendar. The id of an event stays if its day or its text changes, so that calendars move it."""
    calendar = Calendar()
    calendar.add("prodid", "-//prdigest//deprecations//EN")
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", f"{heading.name} deprecations")
    for deadline in deadlines:
        calendar.add_component(_build_event(deadline, heading))
    return bytes(calendar.to_ical())


def _build_event(deadline: RemovalDeadline, heading: ArchiveHeading) -> Event:
    event = Event()
    event.add("uid", _build_uid(deadline, heading))
    # a time of writing would make each file differ from the one before it
    event.add("dtstamp", deadline.announced_at.astimezone(dt.UTC))
    # without an end, an event of a date lasts that day
    event.add("dtstart", deadline.date)
    event.add("summary", format_deadline_title(deadline, heading))
    event.add("description", describe_deadline(deadline, heading))
    event.add("url", f"{heading.repository_url}/pull/{deadline.number}")
    event.add("transp", "TRANSPARENT")
    return event


def _build_uid(deadline: RemovalDeadline, heading: ArchiveHeading) -> str:
    name = "\0".join((heading.repository.lower(), deadline.subject, deadline.name))
    return f"{hashlib.sha256(name.encode()).hexdigest()[:32]}@prdigest"
