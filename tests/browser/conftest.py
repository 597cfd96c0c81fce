"""A demo and a browser for all of these tests, which run in one process; see ``pytest_xdist_make_scheduler``."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.chromium import MISSING, SIZE, Complaints, chromium, executable
from tests.browser.process import Demo, running_demo

# milliseconds: what is shown in a tenth of a second may take long where others work, too
_PATIENCE = 15_000


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = executable()
    if path is None:
        pytest.skip(MISSING)
    expect.set_options(timeout=_PATIENCE)
    with chromium(path) as started_browser:
        yield started_browser


@pytest.fixture(scope="package")
def demo(browser: Browser) -> Iterator[Demo]:
    with running_demo() as started_demo:
        yield started_demo
        assert started_demo.interrupt() == 0


@pytest.fixture(scope="package")
def context(browser: Browser, demo: Demo) -> Iterator[BrowserContext]:
    with browser.new_context(base_url=demo.url) as browser_context:
        browser_context.set_default_timeout(_PATIENCE)
        with browser_context.new_page() as first:
            first.goto(demo.address)
            assert first.url == f"{demo.url}/"
            # the bot starts meanwhile and posts its digest, once for all of these tests
            first.locator("#messages .replies").first.wait_for(timeout=4 * _PATIENCE)
        yield browser_context


@pytest.fixture(scope="package")
def kept_page(context: BrowserContext) -> Page:
    """To open a page again takes as long as most of the tests."""
    return context.new_page()


@pytest.fixture
def page(demo: Demo, context: BrowserContext, kept_page: Page) -> Iterator[Page]:
    """The channel as it is loaded, with the digest and its thread; it has to stay without complaint."""
    kept_page.set_viewport_size(SIZE)
    kept_page.emulate_media(color_scheme="light")
    complaints = Complaints(demo.url)
    with ExitStack() as stack:
        stack.enter_context(complaints.hear_pages(context))
        kept_page.goto("/")
        kept_page.locator("#messages .replies").first.wait_for()
        yield kept_page
        stack.callback(_close, kept_page)
    assert complaints == []


def _close(page: Page) -> None:
    for other in page.context.pages[1:]:
        other.close()
    if page.locator("#window[open]").count():
        page.keyboard.press("Escape")
        page.locator("#window").wait_for(state="hidden")
