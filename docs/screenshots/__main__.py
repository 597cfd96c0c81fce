"""``python -m docs.screenshots``: takes the README's pictures of a demo, in light and dark, into this folder.

Run it again when the page's look changes. The sample day begins at the same morning each time, and questions are
answered by what was written for it, so two runs differ in a few pixels at most.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from bot.demo.sample.sources import INVENTED_TAG
from tests.browser.chromium import MISSING, SIZE, chromium, executable
from tests.browser.process import running_demo
from tests.browser.steps import close_window, open_details, open_thread, say

_FOLDER = Path(__file__).parent
_QUESTION = "which of these touch ROCm?"
_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_NARROW = 360  # pixels: a small phone
# pixels: down to the end of what touches the team
_TOUCHES_HEIGHT, _WEEK_HEIGHT = 345, 1_300
# pixels: down to the box for messages
_TABLE_HEIGHT = 590


def main() -> int:
    """Take the pictures; return 0, or 1 without a browser."""
    path = executable()
    if path is None:
        sys.stderr.write(f"{MISSING}\n")
        return 1
    with chromium(path) as browser:
        with running_demo() as demo:
            take_pictures(browser, demo.address)
        with running_demo("--profile") as demo:
            take_touches(browser, demo.address)
        with running_demo("--agent") as demo:
            take_tables(browser, demo.address)
            take_agent(browser, demo.address)
    return 0


def take_pictures(browser: Browser, address: str) -> None:
    """Take all of the pictures of the demo at this address."""
    with browser.new_context(viewport=SIZE, device_scale_factor=1) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.locator("#messages .replies").first).to_be_visible(timeout=30_000)
        take_picture(page, "channel")
        open_details(page)
        take_picture(page, "details")
        close_window(page)
        open_thread(page)
        ask_question(page)
        take_picture(page, "thread")
        page.goto(address)
        page.set_viewport_size({"width": _NARROW, "height": SIZE["height"]})
        expect(page.locator("#messages .replies").first).to_be_visible()
        take_picture(page, "narrow")


def take_touches(browser: Browser, address: str) -> None:
    """Take the pictures of a digest that begins with what touches a team's code, and of what follows."""
    with browser.new_context(viewport=SIZE, device_scale_factor=1) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.locator("#messages .replies").first).to_be_visible(timeout=30_000)
        take_picture(page, "touches", _TOUCHES_HEIGHT)
        # what waits since the pin, what may go, a watch, and a release
        page.set_viewport_size({"width": SIZE["width"], "height": _WEEK_HEIGHT})
        say(page, "/prdigest watch 35557")
        came = say(page, "/prdigest pending")
        release = page.locator("#messages > .piece", has_text=f"{INVENTED_TAG} · vLLM")
        # the clock looks for tags and plans a post each minute
        expect(release).to_be_visible(timeout=240_000)
        take_picture(page, "week", _WEEK_HEIGHT, came.first)


def take_tables(browser: Browser, address: str) -> None:
    """Take the pictures of two tables in which people compare."""
    with browser.new_context(viewport=SIZE, device_scale_factor=1) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.locator("#messages .replies").first).to_be_visible(timeout=30_000)
        for name, command in (("contract", "/prdigest contract 2026-02-28"), ("risks", "/prrisks top:10")):
            came = say(page, command)
            table = came.get_by_role("table")
            expect(table).to_be_visible(timeout=30_000)
            top = came.first if name == "contract" else table
            take_picture(page, name, _TABLE_HEIGHT, top)


def take_agent(browser: Browser, address: str) -> None:
    """Take the pictures of an answer to a prompt, with cards for what is read."""
    with browser.new_context(viewport=SIZE, device_scale_factor=1) as context:
        page = context.new_page()
        page.goto(address)
        page.get_by_role("link", name="prdigest").click()
        page.get_by_role("button", name="What matters most?").click(timeout=30_000)
        page.locator("#messages .replies").click()
        expect(page.get_by_role("button", name="Good answer")).to_be_visible(timeout=30_000)
        take_picture(page, "agent", top=page.locator("#thread .piece").first)


def ask_question(page: Page) -> None:
    """Ask a question in the open thread and wait for its whole answer; scroll the question to the top."""
    came = say(page, _QUESTION, in_thread=True)
    expect(came.get_by_role("button", name="Good answer")).to_be_visible(timeout=30_000)
    came.first.evaluate("piece => piece.scrollIntoView()")


def take_picture(page: Page, name: str, height: int = SIZE["height"], top: Locator | None = None) -> None:
    """Take one picture for each scheme: the channel from its beginning, without focus or mouse on anything.

    It begins with the message ``top`` in place of the first one. Below ``height`` it is cut off.
    """
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur(); document.querySelector('#messages').scrollTop = 0")
    if top:
        top.evaluate("piece => piece.scrollIntoView()")
    for scheme in _SCHEMES:
        page.emulate_media(color_scheme=scheme)
        shown = Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide")))
        # a page has few colours: a palette makes the file a third as large
        shown.crop((0, 0, shown.width, height)).quantize().save(_FOLDER / f"{name}-{scheme}.png", optimize=True)


if __name__ == "__main__":
    sys.exit(main())
