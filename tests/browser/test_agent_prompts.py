"""The bot as an agent, on the page: prompts that fit the day, cards, Stop while it works, and its session."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from localslack.page.about import About
from localslack.page.setup import Reader, make_page
from playwright.sync_api import Browser, Page, expect
from redis import Redis

from bot.demo.sample.sources import SampleSources
from bot.demo.sample.team import plant_contracts
from bot.features.questions.service import MEMORIES
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.data.sample_team import ZONE, SampleTeam, start_bot
from tests.helpers.processes.command import prdigest

pytestmark = pytest.mark.slow

YOU, DIRECT = "U0YOU", "D0YOU"


@contextmanager
def open_bot(store_url: str, state: Path) -> Iterator[tuple[SampleTeam, str]]:
    """The real bot as an agent after its digest, and the address of a page; its answers take their time."""

    def prepare(slack: SlackEmulator, _: Redis) -> None:
        slack.declare_agent()
        slack.add_channel("C0DIGEST", "vllm-digest")
        slack.add_channel("C0OPS", "ops")
        slack.set_person(YOU, name="You", tz=ZONE.key)

    morning = datetime(2026, 3, 1, 9, 0, 5, tzinfo=ZONE)
    with start_bot(store_url, state, morning, prepare, lambda seconds: time.sleep(4 * seconds)) as team:
        plant_contracts(SampleSources(), team.base)
        team.tick()
        page = make_page(team.slack, team.transport, About("prdigest"), "token", reader=Reader(YOU, zone=ZONE))
        with page, closing(page):
            yield team, page.address


def press_prompt(page: Page, address: str, begins: str) -> None:
    """Open the bot, press the prompt with these first words, and open the thread of its answer."""
    page.set_default_timeout(30_000)
    page.goto(address)
    page.get_by_role("link", name="digest", exact=True).click()
    prompts = page.get_by_role("region", name="Suggested prompts").get_by_role("button")
    prompts.filter(has_text="What matters most?").wait_for()
    titles = [title.partition(":")[0] for title in prompts.all_inner_texts()]
    assert titles == ["Riskiest", "Breaks callers", "What matters most?"], "they fit the last digest"
    prompts.filter(has_text=begins).click()
    page.locator("#messages .replies").click()


def test_what_the_bot_reads_are_cards_stop_ends_it_and_forget_erases_the_session(
    browser: Browser, store_url: str, tmp_path: Path
) -> None:
    with open_bot(store_url, tmp_path) as (team, address), browser.new_page() as page:
        press_prompt(page, address, "Riskiest: #32195")
        answer = page.locator("#thread .piece").nth(1)
        expect(answer.locator(".bk-task-title")).to_contain_text(["Diff of #32195", "Facts about #32195"])
        expect(answer).to_contain_text("is rated highest risk")
        thread = team.slack.list_messages(DIRECT)[-1]["ts"]
        session = team.slack.workspace.agents.sessions[DIRECT, thread]
        assert session.status == "processing"
        expect(page.locator("#status")).to_have_text("digest is working…")
        page.locator("#stop").click()
        expect(answer).to_contain_text("Stopped, as you asked.")
        expect(page.locator("#stop")).to_be_hidden()
        team.settle()
        (reply,) = team.replies(DIRECT, thread)
        (kept,) = [block["text"] for block in reply["blocks"] if block["type"] == "markdown"]
        assert "is rated highest risk" in kept
        # the end of the whole answer
        assert "collide with this one" not in kept
        assert (session.status, session.title[:19]) == ("active", "How risky is #32195")
        own = {"SLACK_API_URL": team.slack.url, "SLACK_BOT_TOKEN": "xoxb-test", "REDIS_URL": store_url}
        assert "Deleted." in prdigest("forget", "--user", YOU, "--yes", settings=own, folder=tmp_path).stdout
        assert (session.status, session.title) == ("closed", "Forgotten")
        assert [*team.base.tables.list_keys(MEMORIES.family)] == []
