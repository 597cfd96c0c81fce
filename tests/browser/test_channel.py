import re

from playwright.sync_api import Page, Route, expect

from handlers import COMMANDS
from tests.browser.steps import DIGEST, open_thread, opened_window, say

# keeps what an element and a line say, each time that one of them changes
_WATCH = """([list, line]) => {
    window.seen = {texts: [], lines: []};
    const look = () => {
        window.seen.texts.push(document.querySelector(list).lastElementChild.innerText);
        window.seen.lines.push(document.querySelector(line).textContent);
    };
    new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def test_the_digest_is_there_and_the_page_says_what_is_real(page: Page) -> None:
    assert page.title() == "vllm-digest · prdigest in a local Slack"
    digest = page.locator("#messages .message").first
    digest.get_by_role("heading", name=DIGEST, exact=True).wait_for()
    expect(digest).to_contain_text("Breaking")
    about = page.locator(".about")
    about.get_by_text("the day is a sample").click()
    assert about.locator("dt").all_inner_texts() == ["Sample", "Computed here", "Needs a key"]


def test_a_summary_is_asked_for_by_keyboard_and_read(page: Page) -> None:
    page.locator("#compose-text").focus()
    page.keyboard.type("/prs")
    expect(page.locator("#compose-words [role=option]:visible")).to_have_text(re.compile("^/prsummary"))
    page.locator("#compose-text").fill("")
    came = say(page, "/prsummary 35617")
    answer = came.filter(has_text="What changed and why")
    expect(answer.get_by_role("heading")).to_contain_text("Fix Qwen3.5/Qwen3Next ignoring --dtype flag")
    expect(answer).to_contain_text("Five constructor calls took their dtype from")
    # the same once more is a link to it, for this person alone
    whisper = say(page, "/prsummary 35617").filter(has_text="Only visible to you")
    whisper.get_by_role("button", name="Post it again").wait_for()
    whisper.get_by_role("button", name="Dismiss").click()
    whisper.wait_for(state="detached")
    expect(answer).to_be_visible()


def test_answers_come_as_they_are_written_and_can_be_judged(page: Page) -> None:
    """In the thread of the digest, and at the same time to a direct message, in a thread of its own."""
    direct = page.context.new_page()
    direct.goto("/")
    direct.get_by_role("link", name="prdigest").click()
    direct.locator("#compose-text").fill("what was reverted?")
    direct.keyboard.press("Enter")
    open_thread(page)
    page.evaluate(_WATCH, ["#thread", "#status"])
    came = say(page, "why is #35441 risky?", in_thread=True)
    answer = came.nth(1)
    answer.get_by_role("button", name="Good answer").wait_for()
    expect(came).to_have_count(2)
    expect(answer.get_by_role("link", name="#35441").first).to_have_attribute("href", re.compile("/pull/35441$"))
    seen = page.evaluate("window.seen")
    assert any(line.startswith("prdigest is ") for line in seen["lines"])
    assert len({len(text) for text in seen["texts"] if "Stop" in text}) >= 2, "it came at once"
    assert page.locator("#status").inner_text() == ""
    answer.get_by_role("button", name="Good answer").click()
    page.get_by_text("Thanks, saved").last.wait_for()
    direct.locator("#messages .replies").last.click()
    expect(direct.locator("#thread .piece").nth(1)).to_contain_text("has been reverted")


def type_before_it_is_sent(route: Route) -> None:
    """The box is empty again by then; an answer may come sooner than somebody types."""
    route.request.frame.page.locator("#compose-text").fill("half a")
    route.continue_()


def test_the_answer_to_a_mention_opens_where_nobody_is_typing(page: Page) -> None:
    say(page, "@prdigest what merged today?")
    answer = page.locator("#thread .piece").nth(1)
    expect(answer).to_contain_text("The sample holds 28 February 2026 only, seen on the next morning.")
    page.get_by_role("link", name="Close thread").click()
    page.route("**/do/say", type_before_it_is_sent, times=1)
    came = say(page, "@prdigest tldr")
    came.locator(".replies").wait_for()
    expect(page.locator("#beside")).to_be_hidden()
    expect(page.locator("#compose-text")).to_have_value("half a")


def test_a_day_that_the_sample_lacks_is_refused_in_a_sentence(page: Page) -> None:
    came = say(page, "/prrisks today")
    came.get_by_text("The sample holds 28 February 2026 only.", exact=True).wait_for()
    came = say(page, "/prdigest 7d")
    overview = came.filter(has_text="6 of 7 days (not in the sample)")
    expect(overview).to_contain_text("Mon 23 Feb – Fri 27 Feb · not in the sample")  # noqa: RUF001 (a dash)
    expect(page.locator("#messages")).not_to_contain_text("nothing merged")


def test_what_is_no_command_is_told_so_and_can_be_mended(page: Page) -> None:
    say(page, "/nonsense 35617")
    expect(page.locator("#compose-notice")).to_have_text(
        f"/nonsense is no command here. There are: {', '.join(each.name for each in COMMANDS)}."
    )
    expect(page.locator("#compose-text")).to_have_value("/nonsense 35617")
    open_thread(page)
    say(page, "/prrisks", in_thread=True)
    expect(page.locator("#reply-notice")).to_contain_text("/prrisks does not work in threads, as in Slack")


# what is typed, and the links that come of it
TYPED = {
    "<img src=x onerror=alert(1)> <script>alert(2)</script>": [],
    "<https://example.org|vLLM> <!channel> <@U0YOU> &lt;b&gt;": ["https://example.org"],
    "[vLLM](javascript:alert(1)) <javascript:alert(1)|vLLM>": [],
}


def test_what_is_typed_is_shown_as_text(page: Page) -> None:
    for text, addresses in TYPED.items():
        shown = say(page, text).locator(".bk-message")
        expect(shown).to_have_text(text)
        assert shown.locator("img, script, b").count() == 0
        assert shown.locator("a").all_inner_texts() == addresses


def test_place_and_thread_stay_when_the_page_is_loaded_again(page: Page) -> None:
    open_thread(page)
    page.get_by_role("link", name="App Home").click()
    page.locator("#beside").wait_for(state="hidden")
    page.go_back()
    expect(page.locator("#thread .message").first).to_contain_text(DIGEST)
    page.reload()
    expect(page.locator("#thread .message").first).to_contain_text(DIGEST)
    page.go_back()
    page.locator("#beside").wait_for(state="hidden")
    page.go_forward()
    expect(page.locator("#thread .message").first).to_contain_text(DIGEST)


def test_two_windows_see_the_same(page: Page) -> None:
    other = page.context.new_page()
    other.goto("/")
    say(page, "seen from two windows")
    other.get_by_text("seen from two windows").last.wait_for()
    assert other.locator("#messages").inner_text() == page.locator("#messages").inner_text()


def test_shortcuts_are_used_by_keyboard_from_a_message_and_beside_the_box(page: Page) -> None:
    say(page, "is 35441 it? I mean #32195").first.wait_for()
    more = page.locator("#messages .message").last.get_by_role("button", name="More actions")
    more.focus()
    page.keyboard.press("ArrowDown")
    item = page.get_by_role("menuitem", name="Explain pull requests").locator("visible=true")
    expect(item).to_be_focused()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()
    expect(more).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    message = page.locator("#messages .message", has_text="I mean #32195")
    message.get_by_role("link", name="1 reply").click()
    expect(page.locator("#thread").get_by_role("heading")).to_contain_text("Add TMA support to fused_moe_lora")
    page.get_by_role("link", name="Close thread").click()
    page.get_by_role("button", name="Shortcuts").first.click()
    page.get_by_role("menuitem", name="Explain a pull request").locator("visible=true").click()
    field = opened_window(page).get_by_label("Pull request")
    expect(field).to_be_focused()
    field.fill("soon")
    page.keyboard.press("Enter")
    expect(page.locator("#window .bk-error:visible")).to_contain_text("I couldn't find a pull request number")
    field.fill("#35441")
    page.keyboard.press("Enter")
    page.locator("#window").wait_for(state="hidden")
    page.get_by_role("link", name="prdigest").click()
    expect(page.locator("#messages")).to_contain_text("#35441")
