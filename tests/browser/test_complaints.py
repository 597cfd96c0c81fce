"""What the other tests rely on: nothing that a page complains of goes unheard."""

from playwright.sync_api import Browser

from tests.browser.chromium import Complaints

OWN = "http://own.invalid"
# what a page does, and what is heard of it
DONE = {
    "console.error('so')": ["console: so"],
    "console.warn('so')": ["console: so"],
    "console.log('so')": [],
    "new Promise(done => setTimeout(() => { setTimeout(done); throw Error('so'); }))": ["error: so"],
    "alert('so')": ["dialog: so"],
    "fetch('/live').catch(() => 0)": [],
    "fetch('/away').catch(() => 0)": [f"failed: {OWN}/away net::ERR_FAILED"],
    "new Promise(done => { const icon = new Image(); icon.onerror = done; icon.src = '//other.invalid'; })": [
        "another host: http://other.invalid/"
    ],
}


def test_complaints_are_heard(browser: Browser) -> None:
    with browser.new_context() as context:
        context.route("**", lambda route: route.abort("aborted"))
        context.route(f"{OWN}/away", lambda route: route.abort("failed"))
        context.route(f"{OWN}/", lambda route: route.fulfill(body="<title>own</title>", content_type="text/html"))
        page = context.new_page()
        page.goto(OWN)
        for script, heard in DONE.items():
            complaints = Complaints(OWN)
            with complaints.hear_pages(context):
                page.evaluate(script)
            # the console tells of failed requests, too
            assert [
                complaint.split("\n")[0] for complaint in complaints if "Failed to load" not in complaint
            ] == heard
