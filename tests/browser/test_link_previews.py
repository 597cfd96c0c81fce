"""A link in the channel, and the card below it as a person sees it."""

from playwright.sync_api import Page

from tests.browser.steps import say


def test_a_link_to_a_pull_request_gets_a_card(page: Page) -> None:
    link = page.locator("#messages a[href*='/pull/']").first.get_attribute("href")
    assert link
    say(page, "/prdigest previews on")
    page.get_by_text("get a preview here").wait_for()
    say(page, f"what about {link}")
    card = page.locator("#messages .bk-attachment").last
    card.get_by_text("risk").wait_for()
    assert link.rpartition("/")[2] in card.inner_text()
