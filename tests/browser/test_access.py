from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from handlers import COMMANDS
from tests.browser.chromium import SIZE
from tests.browser.steps import close_window, open_details, open_thread, opened_window, say

# what scrolls to the side though it should not
_WIDE = """() => [...document.querySelectorAll("html, body, .list, .inside, .report")]
    .filter((part) => part.clientWidth && part.scrollWidth > part.clientWidth)
    .map((part) => part.className || part.tagName)"""
_FOCUSED = """() => {
    const part = document.activeElement;
    return part.getAttribute("aria-label") || part.labels?.[0]?.innerText || part.innerText.split("\\n")[0];
}"""
_MOST_STEPS = 600


def channel(page: Page) -> None:
    say(page, "/prrisks").get_by_role("heading", name="Risky changes").wait_for()


def table(page: Page) -> None:
    shown = say(page, "/prdigest contract 2026-02-28").get_by_role("table", name="contract changes by kind")
    first = shown.locator("tbody tr").first
    expect(first.get_by_role("rowheader")).to_have_text("openai.translations")
    expect(first.get_by_role("cell")).to_have_text(["module", "removed", "\N{EN DASH}", "#35441"])
    page.set_viewport_size(SIZE)
    # all of its columns are there without a move to the side
    assert shown.evaluate("table => table.parentElement.scrollWidth <= table.parentElement.clientWidth")
    page.set_viewport_size({"width": 360, "height": 740})


def form(page: Page) -> None:
    say(page, "/prdigest schedule")
    window = opened_window(page)
    window.get_by_label("Filter").fill("path:")
    page.keyboard.press("Enter")
    window.locator(".bk-error:visible").wait_for()


def home(page: Page) -> None:
    page.get_by_role("link", name="App Home").click()
    page.get_by_role("heading", name="Status").wait_for()
    expect(page.get_by_role("heading", name="Recent digests")).to_be_in_viewport()


def report(page: Page) -> None:
    open_thread(page)
    page.goto(page.get_by_role("link", name="Full report of").evaluate("link => link.href"))


def menu(page: Page) -> None:
    page.get_by_role("button", name="More actions").first.click()
    expect(page.get_by_role("menuitem", name="Explain pull requests").first).to_be_focused()


def preview(page: Page) -> None:
    page.get_by_role("link", name="Block preview").click()
    expect(page.locator("#shown")).to_have_text("Hello from vLLM")


def calls(page: Page) -> None:
    page.get_by_role("link", name="Calls to Slack").click()
    page.locator(".calls summary").first.click()


def violations(page: Page, **options: Any) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    axe_violations = page.evaluate("options => axe.run(options)", {"resultTypes": ["violations"], **options})[
        "violations"
    ]
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in axe_violations]


@pytest.mark.parametrize(
    "go", [channel, table, open_thread, open_details, form, home, menu, report, preview, calls]
)
def test_it_is_accessible_and_fits_light_and_narrow_dark_and_wide(
    go: Callable[[Page], object], page: Page
) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    go(page)
    assert page.evaluate(_WIDE) == []
    assert violations(page) == []
    page.set_viewport_size({"width": 1_600, "height": 900})
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(_WIDE) == []
    # nothing else differs
    assert violations(page, runOnly=["color-contrast"]) == []


def test_the_tab_key_leads_through_the_channel_to_the_message_box(page: Page) -> None:
    way = ["Skip to the message box", "# vllm-digest", "⌂ App Home", "#35441", "Details of …", "Ask about this"]
    way += ["/prsummary 35617", "Message or /command", "Send: Message or /command"]
    for _ in range(_MOST_STEPS):
        page.keyboard.press("Tab")
        if page.evaluate(_FOCUSED) == way[0]:
            way.pop(0)
        if not way:
            break
    assert way == []


NAMES = [command.name for command in COMMANDS]
# what is typed and pressed, and what then stands in the box
COMPLETED = {
    ("/pr", "Tab"): f"{NAMES[0]} ",
    ("/pr", "ArrowDown", "Tab"): f"{NAMES[1]} ",
    ("/pr", "ArrowDown", "ArrowUp", "ArrowUp", "Enter"): f"{NAMES[-1]} ",
    ("/prr", "Enter"): "/prrisks ",
    ("/pr", "Escape"): "/pr",
    ("@p", "Tab"): "@prdigest ",
    ("hi @PR", "Enter"): "hi @prdigest ",
}


def test_what_is_typed_is_completed_by_keyboard_as_in_slack(page: Page) -> None:
    box, completions = page.locator("#compose-text"), {}
    box.focus()
    for typed, *keys in COMPLETED:
        box.fill("")
        page.keyboard.type(typed)
        for key in keys:
            page.keyboard.press(key)
        expect(box).to_be_focused()
        expect(page.locator("#compose-words")).to_be_hidden()
        completions[typed, *keys] = box.input_value()
    assert completions == COMPLETED
    box.fill("")


def test_a_narrow_page_leaves_most_of_its_height_to_messages(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    height = page.locator("#messages").bounding_box()
    assert height
    assert height["height"] > 0.7 * 640
    # what is cut at the edge fades, and can be scrolled to
    masks = "['.side', '.side ul'].map((part) => getComputedStyle(document.querySelector(part)).maskImage)"
    rail, places = page.evaluate(masks)
    # but not its ground, which would be white there
    assert (rail, places.startswith("linear-gradient")) == ("none", True)
    page.get_by_role("link", name="Calls to Slack").scroll_into_view_if_needed()
    expect(page.get_by_role("link", name="Calls to Slack")).to_be_in_viewport(ratio=1)


def test_the_first_link_leads_to_the_message_box(page: Page) -> None:
    page.get_by_role("link", name="prdigest").click()
    page.get_by_role("link", name="Skip to the message box").press("Enter")
    expect(page.locator("#compose-text")).to_be_focused()
    expect(page.locator("#place-name")).to_contain_text("prdigest")


def test_a_window_keeps_the_focus_and_gives_it_back(page: Page) -> None:
    menu = page.get_by_label("Details of …").first
    menu.press("ArrowDown")
    # the list that opens is the browser's own: on a busy machine it misses what is typed before it stands
    page.wait_for_function("document.querySelector('select:open')")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    window = opened_window(page)
    expect(window.get_by_role("heading", name=re.compile(r"^#\d+$"))).to_be_focused()
    for _ in range(8):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.matches('body, #window *')")
    close_window(page)
    expect(menu).to_be_focused()


def test_a_thread_takes_the_focus_and_gives_it_back(page: Page) -> None:
    replies = page.locator("#messages .replies").first
    replies.press("Enter")
    expect(page.get_by_role("heading", name="Thread")).to_be_focused()
    page.keyboard.press("Escape")
    page.locator("#beside").wait_for(state="hidden")
    expect(replies).to_be_focused()


def test_what_was_typed_last_can_be_typed_on_after_a_form(page: Page) -> None:
    say(page, "/prdigest schedule")
    window = opened_window(page)
    expect(window.get_by_label("Repository")).to_be_focused()
    window.get_by_label("At", exact=True).fill("10:45")
    window.get_by_role("button", name="Save").press("Enter")
    window.wait_for(state="hidden")
    page.keyboard.type("thanks")
    expect(page.locator("#compose-text")).to_have_value("thanks")


def test_what_is_dismissed_leaves_the_focus_in_the_list(page: Page) -> None:
    whisper = say(page, "/prdigest help").filter(has_text="Only visible to you")
    whisper.get_by_role("button", name="Dismiss").press("Enter")
    whisper.wait_for(state="detached")
    expect(page.locator("#messages")).to_be_focused()
