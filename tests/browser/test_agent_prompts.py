"""An app that is an agent, on the page: its prompts send their message, and Stop is there while it works."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from localslack.launch import Addresses, LaunchOptions, start
from localslack.manifest import AgentView, Manifest
from playwright.sync_api import Browser, expect
from slack_sdk import WebClient

from tests.helpers.checks import eventually

pytestmark = pytest.mark.slow

TOKEN = "xoxb-of-an-agent"
PROMPTS = ({"title": "Riskiest: #7 <b>Faster</b>", "message": "How risky is #7, and why?"},)


@contextmanager
def open_agent() -> Iterator[tuple[Addresses, list[dict[str, Any]]]]:
    """A local Slack with an agent, and the events that reach it."""
    events: list[dict[str, Any]] = []

    class Bot(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            events.append(body["event"])
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Bot)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    app = Manifest("prdigest", agent=AgentView(PROMPTS, hears_stop=True))
    url = f"http://127.0.0.1:{server.server_port}/slack/events"
    options = LaunchOptions(app, url, "the-signing-secret", TOKEN, "xapp-of-an-agent", "general", ZoneInfo("UTC"))
    try:
        with start(options) as addresses:
            yield addresses, events
    finally:
        server.shutdown()
        server.server_close()


def test_a_prompt_asks_and_stop_is_heard_and_gone_at_rest(browser: Browser, tmp_path: Path) -> None:
    with open_agent() as (addresses, events), browser.new_context() as context, context.new_page() as page:
        bot = WebClient(TOKEN, base_url=addresses.api)
        page.set_default_timeout(10_000)
        page.goto(addresses.page)
        page.get_by_role("link", name="prdigest").click()
        prompt = page.get_by_role("region", name="Suggested prompts").get_by_role("button")
        expect(prompt).to_have_text(PROMPTS[0]["title"])
        prompt.click()
        expect(page.locator("#messages")).to_contain_text(PROMPTS[0]["message"])
        asked = eventually(lambda: [each for each in events if each["type"] == "message"])[0]
        assert asked["text"] == PROMPTS[0]["message"]
        place = {"channel_id": asked["channel"], "thread_ts": asked["ts"]}
        bot.chat_postMessage(channel=asked["channel"], thread_ts=asked["ts"], text="Reading…")
        bot.agents_sessions_setStatus(**place, status="processing")
        page.locator("#messages .replies").click()
        stop = page.locator("#stop")
        expect(stop).to_be_visible()
        expect(page.locator("#status")).to_have_text("prdigest is working…")
        picture = tmp_path / "agent.png"
        page.screenshot(path=picture)
        assert picture.stat().st_size
        stop.click()
        (stopped,) = eventually(lambda: [each for each in events if each["type"] == "agent_session_stopped"])
        assert stopped["thread_ts"] == asked["ts"]
        bot.agents_sessions_setStatus(**place, status="active")
        expect(stop).to_be_hidden()
