"""The pages beside the channel, and what is left when the demo ends."""

import json
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.process import running_demo
from tests.browser.steps import DIGEST, open_thread
from tests.helpers.checks import eventually


def test_a_message_shows_its_json(page: Page) -> None:
    with page.expect_popup() as popup:
        page.locator("#messages .message").first.get_by_role("link", name="JSON").click()
    message = json.loads(popup.value.locator("body").inner_text())
    assert message["text"].startswith(DIGEST)
    assert message["blocks"][0]["type"] == "header"


def test_the_report_is_read_on_its_own_page_and_downloaded(page: Page) -> None:
    open_thread(page)
    with page.expect_popup() as beside:
        page.get_by_role("link", name="Full report of 2026-02-28").click()
    page = beside.value
    report = page.locator("main")
    report.get_by_role("heading", name="vLLM Merged PR Report").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download vLLM-2026-02-28.md").click()
    written = Path(download.value.path()).read_text()
    assert download.value.suggested_filename == "vLLM-2026-02-28.md"
    assert written.startswith("# vLLM Merged PR Report\n\n**Report Date:** 2026-02-28 PST\n")
    headings = [line.lstrip("#").strip() for line in written.split("\n") if line.startswith("#")]
    assert report.get_by_role("heading").count() == len(headings) > 18
    page.get_by_role("link", name="Back to the channel").click()
    page.get_by_role("heading", name=DIGEST, exact=True).wait_for()


SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "*bold* and <https://example.org|a link>"}}
HOSTILE = {"type": "section", "text": {"type": "plain_text", "text": "<img src=x onerror=alert(1)>"}}
EMPTY = {"type": "section", "text": {"type": "mrkdwn", "text": ""}}
# what is pasted, what is shown, and why it is not
PASTED = (
    (json.dumps([SECTION]), "bold and a link", ""),
    (json.dumps([{"type": "nonsense"}]), "", "Slack would refuse it: invalid_blocks"),
    (json.dumps({"text": "hello", "blocks": [SECTION]}), "bold and a link", ""),
    (json.dumps([EMPTY]), "", "Slack would refuse it: invalid_blocks"),
    (json.dumps([HOSTILE]), "<img src=x onerror=alert(1)>", ""),
    ("[", "", "This is no JSON"),
)


def test_pasted_blocks_are_shown_or_refused_as_slack_does(page: Page) -> None:
    page.goto("/preview")
    expect(page.locator("#shown")).to_have_text("Hello from vLLM")
    for pasted, shown, refusal in PASTED:
        page.get_by_label("Blocks as JSON").fill(pasted)
        page.get_by_role("button", name="Show").click()
        expect(page.locator("#shown")).to_have_text(shown)
        expect(page.locator("#refusal")).to_contain_text(refusal)
        expect(page.locator("#refusal")).to_be_visible(visible=bool(refusal))


def test_the_calls_of_the_bot_are_listed(page: Page) -> None:
    page.get_by_role("link", name="Calls to Slack").click()
    page.get_by_text("None: the local Slack took all that the bot sent.").wait_for()
    call = page.get_by_role("listitem").filter(has_text="chat.postMessage").last
    call.locator("summary").click()
    assert '"channel": "C0DIGEST"' in call.locator("pre").inner_text()


def test_ctrl_c_leaves_nothing_and_an_open_page_says_so(browser: Browser) -> None:
    with running_demo() as demo, browser.new_context() as context:
        page = context.new_page()
        page.goto(demo.address)
        page.get_by_role("heading", name=DIGEST, exact=True).wait_for()
        assert demo.processes()
        assert demo.interrupt() == 0
        page.get_by_text("The demo does not answer: is it still running in its terminal?").wait_for()
        eventually(lambda: not demo.processes(), seconds=5)
        assert list(demo.folder.iterdir()) == []
        assert demo.output_text.count("\n") == 2, "only the address and how to end it"
