"""The Atom feed (RFC 4287): an entry a day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, uuid5
from xml.etree.ElementTree import Element, SubElement, register_namespace, tostring

from bot.domain.archive.models import ArchivedDay, ArchiveHeading
from bot.render.archive.pages import render_entry
from bot.render.archive.sentences import describe_day, format_day_title

FEED_DAYS = 14
_NAMESPACE = "http://www.w3.org/2005/Atom"
_NAMESPACE_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
# a feed without a day has to have a time
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
# what XML 1.0 can't hold, escaped or not
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_atom(days: Sequence[ArchivedDay], heading: ArchiveHeading, own_name: str = "") -> bytes:
    """Render the feed of the last days, newest first.

    Ids are made of the repository, the time zone and the date alone, so that no reader shows a day twice. A day
    with news of its merges keeps its id, and has a later ``updated``. Links need the public address of the pages.
    ``own_name`` is the name of the feed beside them; empty if it stands elsewhere.
    """
    register_namespace("", _NAMESPACE)
    newest = sorted(days, key=lambda day: day.date, reverse=True)[:FEED_DAYS]
    feed = Element(f"{{{_NAMESPACE}}}feed", {_NAMESPACE_LANGUAGE: "en"})
    _add_text(feed, "title", f"{heading.name} merges")
    _add_text(feed, "id", _build_id(heading, "feed"))
    _add_text(feed, "updated", _format_time(max((day.updated_at for day in newest), default=_NEVER)))
    _add_text(_add(feed, "author"), "name", "prdigest")
    _add_text(feed, "generator", "prdigest")
    if heading.site and own_name:
        _add(feed, "link", rel="self", type="application/atom+xml", href=f"{heading.site}{own_name}")
    if heading.site:
        _add(feed, "link", rel="alternate", type="text/html", href=heading.site)
    for day in newest:
        _add_entry(feed, day, heading)
    return bytes(tostring(feed, encoding="utf-8", xml_declaration=True))


def _add_entry(feed: Element, day: ArchivedDay, heading: ArchiveHeading) -> None:
    entry = _add(feed, "entry")
    _add_text(entry, "title", format_day_title(day, heading))
    _add_text(entry, "id", _build_id(heading, str(day.date)))
    _add_text(entry, "published", _format_time(day.end))
    _add_text(entry, "updated", _format_time(day.updated_at))
    if heading.site:
        _add(entry, "link", rel="alternate", type="text/html", href=f"{heading.site}days/{day.date}.html")
    _add_text(entry, "summary", describe_day(day))
    _add_text(entry, "content", render_entry(day), type="html")


def _build_id(heading: ArchiveHeading, part: str) -> str:
    return uuid5(NAMESPACE_URL, f"{heading.repository_url.lower()} {heading.zone} {part}").urn


def _format_time(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _add(parent: Element, name: str, **attributes: str) -> Element:
    return SubElement(parent, f"{{{_NAMESPACE}}}{name}", attributes)


def _add_text(parent: Element, name: str, text: str, **attributes: str) -> None:
    _add(parent, name, **attributes).text = _FORBIDDEN.sub("", text)
