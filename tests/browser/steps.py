from contextlib import suppress

from playwright.sync_api import Error, Locator, Page

DIGEST = "vLLM · Saturday 28 February 2026 · 18 merged"


def say(page: Page, text: str, *, in_thread: bool = False) -> Locator:
    """Type a message and send it, by keyboard; gives what comes after all that was there."""
    listed = "#thread" if in_thread else "#messages"
    known = page.locator(f"{listed} > .piece").last.get_attribute("data-key")
    page.locator("#reply-text" if in_thread else "#compose-text").focus()
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    return page.locator(f'{listed} > .piece[data-key="{known}"] ~ .piece')


def open_thread(page: Page) -> None:
    page.locator("#messages .piece", has_text=DIGEST).locator(".replies").click()
    page.locator("#thread .piece", has_text="Full report of").wait_for()


def open_details(page: Page) -> Locator:
    page.get_by_label("Details of …").first.select_option(label="#32195 Add TMA support to fused_moe_lora kernel")
    return opened_window(page)


def opened_window(page: Page) -> Locator:
    page.locator("#window").wait_for()
    return page.locator("#window")


def open_window(page: Page, button: Locator) -> Locator:
    """Click until a window opens: Slack gives a bot three seconds for it, which a busy machine may use up."""
    for _ in range(3):
        button.click()
        with suppress(Error):
            page.locator("#window").wait_for(timeout=5_000)
            break
    return opened_window(page)


def close_window(page: Page) -> None:
    page.keyboard.press("Escape")
    page.locator("#window").wait_for(state="hidden")
