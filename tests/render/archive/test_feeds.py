"""Feeds, read by what other programs read them with: feedparser, an XML parser, icalendar and a JSON schema."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any
from uuid import UUID
from xml.etree.ElementTree import Element, fromstring

import feedparser
from hypothesis import given
from hypothesis import strategies as st
from icalendar import Calendar
from jsonschema import Draft202012Validator

from bot.domain.archive.models import ArchivedDay
from bot.render.archive.atom import FEED_DAYS, render_atom
from bot.render.archive.calendar import render_calendar
from bot.render.archive.contract_feed import render_contract_feed
from bot.render.archive.search_index import render_search_month
from tests.helpers.data.archive import (
    END,
    HEADING,
    HOSTILE,
    Page,
    change,
    day,
    days,
    deadline,
    hostile_days,
    merge,
    outcome,
    texts,
)
from tests.helpers.tables import check_rows

ATOM = "{http://www.w3.org/2005/Atom}"
SCHEMA = json.loads((Path(__file__).parents[3] / "docs/feeds/contract.schema.json").read_text(encoding="utf-8"))


def check_atom(text: bytes) -> Element:
    """Check what RFC 4287 says of a feed and its entries (4.1.1, 4.1.2), and return the feed."""
    feed = fromstring(text)  # noqa: S314 (our own)
    assert feed.tag == f"{ATOM}feed"
    for part in (feed, *feed.iter(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert len(part.findall(f"{ATOM}{name}")) == 1
        assert UUID((part.findtext(f"{ATOM}id") or "").removeprefix("urn:uuid:"))
        assert dt.datetime.fromisoformat(part.findtext(f"{ATOM}updated") or "").tzinfo == dt.UTC
    assert feed.find(f"{ATOM}author/{ATOM}name") is not None
    for entry in feed.iter(f"{ATOM}entry"):
        assert entry.find(f"{ATOM}content") is not None or entry.find(f"{ATOM}link") is not None
    ids = [part.findtext(f"{ATOM}id") for part in (feed, *feed.iter(f"{ATOM}entry"))]
    assert len(set(ids)) == len(ids)
    return feed


@given(archived_day=hostile_days())
def test_an_atom_feed_is_valid_and_harmless_whatever_others_write(archived_day: ArchivedDay) -> None:
    feed = check_atom(render_atom([archived_day], HEADING))
    content = Page(feed.findtext(f"{ATOM}entry/{ATOM}content") or "")
    assert {tag for tag, _ in content.elements} <= {"h3", "ul", "li", "a", "strong"}


def test_a_reader_sees_a_bounded_number_of_days_newest_first() -> None:
    read = feedparser.parse(render_atom(days(FEED_DAYS + 5), HEADING, "feed.atom"))
    assert not read.bozo
    assert len(read.entries) == FEED_DAYS
    assert read.entries[0].title == "Engine: 2 merges on Saturday 28 February 2026"
    assert read.entries[0].link == "https://pages.example/merges/days/2026-02-28.html"
    assert "Requests are counted once" in read.entries[0].content[0].value
    assert [link.href for link in read.feed.links] == [
        "https://pages.example/merges/feed.atom",
        "https://pages.example/merges/",
    ]


def test_a_day_with_news_keeps_its_id_and_is_later() -> None:
    before, after = (
        check_atom(render_atom([day(merge(1, outcomes=each))], HEADING)).find(f"{ATOM}entry")
        for each in ((), (outcome(9),))
    )
    assert before is not None
    assert after is not None
    assert before.findtext(f"{ATOM}id") == after.findtext(f"{ATOM}id")
    assert (before.findtext(f"{ATOM}updated"), after.findtext(f"{ATOM}updated")) == (
        "2026-03-01T00:00:00Z",
        "2026-03-04T00:00:00Z",
    )


def test_a_feed_without_days_is_valid() -> None:
    assert check_atom(render_atom([], HEADING)).find(f"{ATOM}entry") is None


def list_events(text: bytes) -> list[Any]:
    """The events of a calendar."""
    return [part for part in Calendar.from_ical(text).subcomponents if part.name == "VEVENT"]


@given(raw_names=st.lists(texts(), max_size=4, unique=True))
def test_a_calendar_says_what_it_was_given_and_nothing_else(raw_names: list[str]) -> None:
    # control characters and line ends other than \n are removed before: the service cleans each name
    names = [" ".join("".join(char for char in name if char.isprintable()).split()) for name in raw_names]
    text = render_calendar([deadline(name, replacement=name) for name in names], HEADING)
    events = list_events(text)
    assert [str(event["summary"]) for event in events] == [f"Engine: flag {name} may be removed" for name in names]
    assert all(set(event) <= set("UID DTSTAMP DTSTART SUMMARY DESCRIPTION URL TRANSP".split()) for event in events)
    assert all(len(line) <= 75 for line in text.split(b"\r\n"))


@check_rows(HOSTILE)
def test_no_name_adds_a_line_to_a_calendar(name: str) -> None:
    events = list_events(render_calendar([deadline(name)], HEADING))
    assert len(events) == 1
    assert "ATTACH" not in events[0]


def test_an_event_is_of_the_whole_day_and_keeps_its_id() -> None:
    first, moved, other = list_events(
        render_calendar([deadline(), deadline(date=dt.date(2026, 7, 1)), deadline("--other")], HEADING)
    )
    assert first.decoded("dtstart") == dt.date(2026, 6, 1)
    assert first.decoded("dtstamp") == END
    assert str(first["uid"]) == str(moved["uid"]) != str(other["uid"])
    assert "announced for this day. Use --new instead." in str(first["description"])


def test_the_last_day_of_the_calendar_is_a_day() -> None:
    (event,) = list_events(render_calendar([deadline(date=dt.date.max)], HEADING))
    assert event.decoded("dtstart") == dt.date.max


def test_a_deadline_by_a_release_says_which() -> None:
    (event,) = list_events(render_calendar([deadline(removal="v0.15", release="v0.15.0")], HEADING))
    assert "announced for v0.15, and v0.15.0 was released on this day" in str(event["description"])


@given(archived_day=hostile_days())
def test_contract_changes_keep_to_their_schema(archived_day: ArchivedDay) -> None:
    text = render_contract_feed([archived_day], archived_day.merges, HEADING)
    fields = json.loads(text)
    Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(fields)
    assert fields["merges"][0]["changes"][0]["before"] == archived_day.merges[0].changes[0].before  # type: ignore[index]


def test_contract_changes_say_what_was_not_read() -> None:
    made = day(merge(1, changes=None), merge(2, changes=(change(),), outcomes=(outcome(),)))
    fields = json.loads(render_contract_feed([made], made.merges, HEADING, "2026-02-28"))
    Draft202012Validator(SCHEMA).validate(fields)
    assert {each["number"]: each["is_read"] for each in fields["merges"]} == {1: False, 2: True}
    assert fields["merges"][0]["outcomes"] == [{"kind": "reverted", "by": 9, "at": "2026-03-04T00:00:00Z"}]
    assert Draft202012Validator(SCHEMA).is_valid({**fields, "more": 1}) is False


@given(archived_day=hostile_days())
def test_the_search_index_is_one_call_with_json(archived_day: ArchivedDay) -> None:
    text = render_search_month("2026-02", [archived_day])
    assert text.isascii()
    fields = json.loads(text.removeprefix("prdigestSearch(").removesuffix(");\n"))
    assert fields["rows"][0][:3] == ["2026-02-28", 1, archived_day.merges[0].title]
