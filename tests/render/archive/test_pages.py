"""Pages: whatever the texts of others say, a page has its own elements alone, and loads and links nothing else."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from hypothesis import given

from bot.domain.archive.models import ArchivedDay
from bot.render.archive.markdown import render_markdown
from bot.render.archive.pages import render_day, render_entry, render_index
from bot.render.archive.resources import ASSETS, read_asset, require_web_url
from tests.helpers.data.archive import (
    DATE,
    HEADING,
    HOSTILE,
    Page,
    change,
    day,
    days,
    hostile_days,
    merge,
    outcome,
    texts,
)

OF_MARKDOWN = {"p", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "br"}
OF_PAGES = OF_MARKDOWN | set(
    "html head meta title link body a header main nav h1 h2 h3 h4 time section article div span del ins details "
    "summary footer".split()
)


@given(text=texts())
def test_markdown_makes_nothing_that_loads_or_links(text: str) -> None:
    page = Page(render_markdown(text))
    assert {tag for tag, _ in page.elements} <= OF_MARKDOWN
    # the language of a fence, and the number of a list's first item
    assert {name for _, attributes in page.elements for name in attributes} <= {"class", "start"}


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a *b* **c** `d<e`", "<p>a <em>b</em> <strong>c</strong> <code>d&lt;e</code></p>\n"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
        ("# no heading", "<p># no heading</p>\n"),
        ("[a](https://b.example)", "<p>[a](https://b.example)</p>\n"),
        ("<b>", "<p>&lt;b&gt;</p>\n"),
        ("&lt;", "<p>&amp;lt;</p>\n"),
    ],
)
def test_markdown_keeps_what_a_summary_needs(text: str, html: str) -> None:
    assert render_markdown(text) == html


@given(archived_day=hostile_days())
def test_a_page_has_its_own_elements_and_links_alone(archived_day: ArchivedDay) -> None:
    page = Page(render_day(archived_day, HEADING, before=DATE, after=DATE))
    assert {tag for tag, _ in page.elements} <= OF_PAGES
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert not page.list_values("style")
    for url in page.list_values("href"):
        assert url.startswith(
            ("https://github.com/octo/engine", "../", "#area-", "#pr-", "#main", "2026-02-28.html")
        )


@given(archived_day=hostile_days())
def test_the_content_of_an_entry_links_the_repository_alone(archived_day: ArchivedDay) -> None:
    page = Page(render_entry(archived_day))
    assert {tag for tag, _ in page.elements} <= {"h3", "ul", "li", "a", "strong"}
    assert all(url.startswith("https://github.com/octo/engine/pull/") for url in page.list_values("href"))


def test_every_hostile_title_is_read_as_it_was_written() -> None:
    readable = [text for text in HOSTILE if text.isprintable()]
    page = Page(render_day(day(*(merge(n, title=text) for n, text in enumerate(readable, 1))), HEADING))
    for text in readable:
        assert text in page.text


def test_a_page_says_what_is_known_of_a_merge() -> None:
    known = merge(
        7, changes=(change("engine.count", after="def count(all)"),), hidden_changes=2, outcomes=(outcome(9),)
    )
    unread = merge(9, unread_files=2)
    facts = merge(8, headline="", type="", sections=(), changes=None, file_count=300)
    text = " ".join(Page(render_day(day(known, facts, unread), HEADING)).text.split())
    for part in (
        "#7 Change number 7",
        "Reverted by #9 on 2026-03-04",
        "The counter moved to engine.",
        "function removed engine.count \N{MINUS SIGN}def engine.count() +def count(all)",
        "and 2 more changes",
        "No summary is kept; the facts stand here alone.",
        "Contract changes of 1 merge were not read.",
        "300 changed files, the first 1 of them here",
        "2 changed files could not be read for this list.",
        "3 merges, 3 contract changes, 1 reverted or repaired since",
    ):
        assert part in text, part


def test_an_address_that_is_none_of_the_web_leads_nowhere() -> None:
    assert [require_web_url(url) for url in ("https://a.example/b", "javascript:alert(1)", "//e", "data:x")] == [
        "https://a.example/b",
        "#",
        "#",
        "#",
    ]


def test_the_index_has_each_day_under_its_month_newest_first() -> None:
    page = Page(render_index([*days(2), day(date=dt.date(2026, 1, 5))], HEADING))
    linked = [url for url in page.list_values("href") if url.startswith("days/")]
    assert linked == ["days/2026-02-28.html", "days/2026-02-27.html", "days/2026-01-05.html"]
    assert re.findall(r"January 2026|February 2026\n", page.text)[0].startswith("February")
    assert page.list_values("data-months") == ["2026-02 2026-01"]


@pytest.mark.parametrize(
    "text", [render_day(day(), HEADING), render_index(days(1), HEADING)], ids=["day", "index"]
)
def test_a_page_allows_its_own_files_alone_and_has_nothing_inline(text: str) -> None:
    page = Page(text)
    policy = next(attributes["content"] for tag, attributes in page.elements if attributes.get("http-equiv"))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "*" not in policy
    loaded = [*page.list_values("src"), *page.list_values("href", ["link"])]
    assert loaded
    assert not [url for url in loaded if "//" in url]
    assert "<style" not in text
    assert not re.search(r"<script[^>]*>[^<]", text)


@pytest.mark.parametrize("name", ASSETS)
def test_no_file_of_the_site_names_another_host(name: str) -> None:
    text = read_asset(name).decode().replace("http://www.w3.org/2000/svg", "")
    assert "//" not in re.sub(r"^\s*//.*$", "", text, flags=re.M)
