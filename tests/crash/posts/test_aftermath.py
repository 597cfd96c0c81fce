import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from localslack.state.workspace import Json
from redis import Redis

from bot.app import open_app, prepare_worker
from bot.features.subscriptions.rules import Subscription
from bot.features.subscriptions.schedule import post_digest
from bot.platform.store.due_queue import CHECK_INTERVAL, DueQueue, OutcomeCheck
from bot.settings import load_settings
from tests.crash.conftest import PATIENCE, site_on
from tests.crash.posts.test_schedule import REPO, SECOND, Moment, Newsroom, hold
from tests.emulators.github.store import pull
from tests.features.digest.posted_worlds import lines
from tests.features.subscriptions.scheduled import key_of
from tests.helpers.checks import eventually
from tests.helpers.doubles import Sleeps
from tests.helpers.world import CHANNEL

LOOK = OutcomeCheck(REPO)
REVERTED, REVERT = 702, 709
BEHIND = rf" — reverted after \d+\.\d h by #{REVERT}"
AFTER_EDIT = Moment("chat.update", is_done=True)
AFTER_REPLY = Moment("chat.postMessage", is_done=True, is_part=True)


class Posted(Newsroom):
    """Two channels with the digest of yesterday, of which a part was reverted since; it is time to look."""

    def post(self) -> None:
        with open_app(load_settings(), lambda: datetime.now(UTC), Sleeps()) as base:
            app = prepare_worker(base)
            for channel in (CHANNEL, SECOND):
                post_digest(app, Subscription(channel, REPO, self.timing).build_digest_spec(self.due))
        self.before = {channel: self.list_digest_lines(channel) for channel in (CHANNEL, SECOND)}
        at = datetime.now(UTC) - timedelta(minutes=5)
        self.site.world.github.add(str(REPO), pull(REVERT, title=f"Revert #{REVERTED}", merged_at=at))
        DueQueue(self.site.store).put(LOOK, at)

    def messages(self, channel: str) -> list[Json]:
        [lead] = self.site.world.slack.list_messages(channel)
        return [lead, *self.site.world.slack.list_replies(channel, lead["ts"])]

    def list_digest_lines(self, channel: str) -> list[str]:
        posted = [each for each in self.messages(channel) if not each.get("files") and "!" not in key_of(each)]
        return [line for message in posted for line in lines(message)]

    def list_remarks(self, channel: str) -> list[str]:
        """What was said of it since."""
        return [each["text"] for each in self.messages(channel) if "!" in key_of(each)]

    def assert_told_once(self) -> None:
        """One reply each, what became of one pull request behind its lines, and no other word is new."""
        for channel in (CHANNEL, SECOND):
            assert len(self.list_remarks(channel)) == 1
            pairs = list(zip(self.before[channel], self.list_digest_lines(channel), strict=True))
            changed = [(was, now) for was, now in pairs if was != now]
            assert [was.partition(" ")[0] for was, _ in changed] == [f"#{REVERTED}"]
            assert all(re.fullmatch(re.escape(was) + BEHIND, now) for was, now in changed)


@pytest.fixture
def posted_digests(
    store: Redis, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Posted]:
    with site_on(store_url, store, tmp_path) as site:
        made = Posted(site)
        for name, value in site.world.settings.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        made.post()
        yield made


def test_clocks_and_workers_look_once_and_tell_once(posted_digests: Posted) -> None:
    github, slack = posted_digests.site.world.github, posted_digests.site.world.slack
    before = len(github.calls)
    posted_digests.site.staff(workers=2)
    clocks = [posted_digests.clock() for _ in range(2)]
    eventually(lambda: posted_digests.list_remarks(CHANNEL) and posted_digests.list_remarks(SECOND))
    posted_digests.site.await_rest()
    posted_digests.assert_told_once()
    days = Counter(call.json()["variables"]["since"] for call in github.calls[before:])
    assert set(days.values()) == {1}, "GitHub is asked once for all channels"
    planned = DueQueue(posted_digests.site.store).get_time(LOOK)
    assert planned is not None
    assert timedelta(0) < datetime.now(UTC) + CHECK_INTERVAL - planned < timedelta(minutes=1)
    assert set(Counter((call["channel"], call["ts"]) for call in slack.list_calls_to("chat.update")).values()) == {
        1
    }
    assert [clock.poll() for clock in clocks] == [None, None]


def test_a_worker_that_is_killed_after_an_edit_or_a_reply_is_followed_by_one_that_tells_the_rest(
    posted_digests: Posted,
) -> None:
    moments = {CHANNEL: AFTER_EDIT, SECOND: AFTER_REPLY}
    gate = hold(posted_digests.site, moments)
    clock, worker = posted_digests.staff()
    eventually(lambda: sorted(gate.held) == sorted(moments))
    for process in (clock, worker):
        process.kill()
        process.wait(timeout=10)
    gate.open()
    assert (posted_digests.list_remarks(CHANNEL), len(posted_digests.list_remarks(SECOND))) == ([], 1)
    posted_digests.site.worker()
    eventually(lambda: posted_digests.list_remarks(CHANNEL), PATIENCE)
    posted_digests.site.await_rest()
    posted_digests.assert_told_once()
