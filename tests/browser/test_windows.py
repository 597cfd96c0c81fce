from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.steps import DIGEST, close_window, open_details, open_window, opened_window, say


def test_details_open_in_a_window(page: Page) -> None:
    window = open_details(page)
    window.get_by_role("heading", name="#32195", exact=True).wait_for()
    expect(window).to_contain_text("learns to load LoRA weights and the intermediate activations")
    close_window(page)
    # the same can be chosen again
    expect(page.get_by_label("Details of …").first).to_have_value("")


def test_a_window_stays_in_its_tab_and_ends_with_it(page: Page) -> None:
    other = page.context.new_page()
    other.goto("/")
    opened = open_details(other)
    say(page, "meanwhile, in another tab").get_by_text("meanwhile").wait_for()
    other.get_by_text("meanwhile, in another tab").wait_for(state="attached")
    expect(opened).to_be_visible()
    expect(page.locator("#window")).to_be_hidden()
    other.close()
    for _ in range(2):
        page.reload()
        page.locator("#messages .replies").first.wait_for()
        expect(page.locator("#window")).to_be_hidden()
        # one that is opened later is there
        open_details(page)
    close_window(page)
    expect(page.locator("#window")).to_be_hidden()


def test_ask_about_this_says_how_where_one_looks_and_leads_there(page: Page) -> None:
    page.get_by_role("button", name="Ask about this").first.click()
    window = opened_window(page)
    expect(window).to_contain_text("Reply in that message's thread, in your own words:")
    window.get_by_role("link", name="Open the message").click()
    window.wait_for(state="hidden")
    expect(page.locator("#thread .message").first).to_contain_text(DIGEST)
    expect(page.locator("#thread-name")).to_be_focused()


def test_what_must_be_filled_in_is_asked_for_before_the_bot_hears_of_it(page: Page) -> None:
    say(page, "/prdigest schedule")
    window = opened_window(page)
    zone = window.get_by_label("Time zone")
    for typed, error_text in (
        ("", "Please complete this required field."),
        ("Mars", "Choose one of the suggestions."),
    ):
        zone.fill(typed)
        window.get_by_role("button", name="Save").click()
        expect(window.locator(".bk-error:visible")).to_have_text(error_text)
        expect(zone).to_be_focused()
    zone.fill("Europe/Berlin")
    expect(zone).to_have_attribute("data-value", "Europe/Berlin")
    window.get_by_role("button", name="Cancel").click()
    window.wait_for(state="hidden")


def test_a_subscription_is_made_listed_and_taken_back(page: Page) -> None:
    came = say(page, "/prdigest schedule")
    window = opened_window(page)
    filter_field = window.get_by_label("Filter")
    filter_field.fill("path:")
    window.get_by_role("button", name="Save").click()
    expect(window.locator(".bk-error:visible")).to_have_text("path: needs a value directly after the colon.")
    expect(filter_field).to_have_attribute("aria-invalid", "true")
    expect(filter_field).to_be_focused()
    expect(window.locator(".bk-error:visible")).to_be_in_viewport()
    filter_field.fill("path:vllm/v1")
    window.get_by_label("At", exact=True).fill("10:35")
    window.get_by_role("button", name="Save").click()
    window.wait_for(state="hidden")
    expect(came.filter(has_text="Subscribed: ")).to_contain_text("every day at 10:35")
    listed = say(page, "/prdigest list").filter(has_text="digests come here")
    expect(listed).to_contain_text("every day at 10:35 (America/Los_Angeles), path:vllm/v1")
    listed.get_by_role("button", name="Unsubscribe").click()
    asked = page.get_by_role("dialog", name="Unsubscribe?")
    asked.get_by_role("button", name="Keep it").click()
    asked.wait_for(state="hidden")
    listed.get_by_role("button", name="Unsubscribe").click()
    asked.get_by_role("button", name="Unsubscribe").click()
    page.get_by_text("Unsubscribed: ").last.wait_for()
    assert page.get_by_text("Unsubscribed: ").count() == 1


def test_home_tells_of_the_last_digest_and_of_subscriptions(page: Page) -> None:
    # App Home shows what there was when it was opened
    expect(page.locator("#messages")).to_contain_text(DIGEST)
    page.get_by_role("link", name="App Home").click()
    home = page.locator("#messages")
    home.get_by_role("heading", name="Recent digests").wait_for()
    expect(home).to_contain_text(DIGEST)
    expect(home).to_contain_text("vllm-project/vllm, every day at 09:00")
    page.locator("#compose").wait_for(state="hidden")
    window = open_window(page, home.get_by_role("button", name="New subscription"))
    expect(window.get_by_label("Repository")).to_be_focused()
    close_window(page)
    home.get_by_role("link", name="Open it").click()
    expect(page.locator("#thread .message").first).to_contain_text(DIGEST)


def test_a_preview_is_announced_in_home_and_found_where_it_is_new(page: Page) -> None:
    say(page, "/prdigest subscribe me at 10:45").get_by_text("Subscribed: ").wait_for()
    page.get_by_role("link", name="App Home").click()
    # not the button below the answer in the channel, which stands there until Home is shown
    page.locator("#messages[data-of=home]").get_by_role("button", name="Preview").first.click()
    # a worker does this: on a busy machine it may be a while until it begins
    announced = "I'm sending you the preview as a direct message."
    expect(page.locator("#messages")).to_contain_text(announced, timeout=60_000)
    place = page.locator(".side a", has_text="prdigest")
    place.locator(".news").wait_for()
    place.click()
    preview = page.locator("#messages .piece", has_text="Preview, visible only to you.").last
    expect(place.locator(".news")).to_be_hidden()
    # also if something else comes below it, such as a greeting
    more = {"place": "D0YOU", "text": "hello there"}
    page.request.post("/do/say", data=more)
    expect(page.locator("#messages")).to_contain_text("hello there")
    expect(preview.get_by_role("heading").first).to_be_in_viewport()
