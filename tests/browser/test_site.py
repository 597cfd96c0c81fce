"""A site in Chromium, from a web server and from a folder: search, dark mode, access, and what it may load."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from bot.adapters.files.site_folder import open_site_folder
from bot.services.archive.site_writer import MARKER, write_site
from tests.browser.chromium import Complaints
from tests.helpers.data.archive import DATE, HEADING, HOSTILE, change, day, days, deadline, merge, outcome

HOSTILE_DATE = DATE - timedelta(days=1)
# without the files that axe would load again, which the page forbids
AXE = {"preload": False}
# it is the same page from a folder
ONCE = pytest.mark.parametrize("address", ["web"], indirect=True)
_STOLEN = (
    """() => document.querySelectorAll("script").length > 1 || document.querySelectorAll("img, iframe").length"""
)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of two months: its last day has all that a page can show, the one before what others may write."""
    root = tmp_path_factory.mktemp("site")
    known = merge(
        901,
        title="Count retries of the scheduler",
        changes=(change(after="x"),),
        outcomes=(outcome(9),),
        hidden_changes=1,
    )
    facts = merge(902, headline="", type="", sections=(), changes=None)
    hostile = [
        merge(
            910 + n, title=text, sections=(("What changed and why", text),), changes=(change(text, before=text),)
        )
        for n, text in enumerate(HOSTILE)
    ]
    with open_site_folder(root, MARKER) as opened:
        last = (day(*hostile, date=HOSTILE_DATE), day(known, facts))
        write_site(opened, HEADING, (*days(40)[:-2], *last), [deadline()])
    return root


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as http_server:
        thread = threading.Thread(target=http_server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http_server.server_port}"
        http_server.shutdown()
        thread.join()


@pytest.fixture(scope="module", params=["web", "folder"])
def address(request: pytest.FixtureRequest, folder: Path) -> str:
    return str(request.getfixturevalue("server")) if request.param == "web" else f"file://{folder}"


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page that must neither complain, as of what it may not load, nor ask another host."""
    complaints = Complaints(address)
    with browser.new_context() as context, complaints.hear_pages(context):
        yield context.new_page()
    assert complaints == []


def search(page: Page, address: str, text: str) -> None:
    page.goto(f"{address}/index.html")
    page.get_by_role("searchbox").fill(text)


def test_a_search_finds_merges_of_all_months_and_leads_to_them(page: Page, address: str) -> None:
    search(page, address, "SCHEDULER retries")
    expect(page.get_by_role("status")).to_have_text("1 merge")
    page.get_by_role("link", name="#901 Count retries of the scheduler").click()
    expect(page.get_by_role("heading", name="#901 Count retries of the scheduler")).to_be_in_viewport()
    search(page, address, "counted once")
    expect(page.get_by_role("status")).to_contain_text("the first 50 are shown")
    expect(page.locator("#results li")).to_have_count(50)
    search(page, address, "nothing that is there")
    expect(page.get_by_role("status")).to_have_text("0 merges")


def test_a_search_can_be_linked(page: Page, address: str) -> None:
    page.goto(f"{address}/index.html?q=%23901")
    expect(page.locator("#results li")).to_have_count(1)


@pytest.mark.parametrize("text", ["<script>", "<img", "javascript:"])
def test_what_a_search_finds_is_text(text: str, page: Page, address: str) -> None:
    search(page, address, text)
    expect(page.locator("#results li").first).to_be_visible()
    assert page.evaluate("document.querySelectorAll('#results img, #results script, #main script').length") == 0


def test_hostile_texts_run_nothing_and_load_nothing(page: Page, address: str) -> None:
    page.goto(f"{address}/days/{HOSTILE_DATE}.html")
    page.get_by_role("heading", name="#911").wait_for()
    assert not page.evaluate(_STOLEN)


@ONCE
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["index.html", "days/2026-02-28.html"])
def test_axe_finds_nothing_in_light_and_dark(path: str, scheme: str, page: Page, address: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(f"{address}/{path}")
    if path == "index.html":
        search(page, address, "scheduler")
        expect(page.get_by_role("status")).to_have_text("1 merge")
    else:
        page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true })")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 27)")
    response = Axe().run(page, options=AXE).response
    assert response["violations"] == []
    assert len(response["passes"]) > 15


@ONCE
@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_is_wider_than_the_window(width: int, page: Page, address: str) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for path in ("index.html", "days/2026-02-28.html", f"days/{HOSTILE_DATE}.html"):
        page.goto(f"{address}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@ONCE
def test_on_paper_there_is_no_navigation(page: Page, address: str) -> None:
    page.goto(f"{address}/days/2026-02-28.html")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.get_by_role("navigation")).to_have_count(0)
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


@pytest.fixture
def plain(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context(java_script_enabled=False) as browser_context:
        yield browser_context


def test_without_scripts_all_is_readable(plain: BrowserContext, address: str) -> None:
    page = plain.new_page()
    page.goto(f"{address}/index.html")
    expect(page.get_by_role("searchbox")).to_be_hidden()
    page.get_by_role("link", name="Saturday 28 February 2026").click()
    expect(page.get_by_text("Reverted by #9 on 2026-03-04")).to_be_visible()
