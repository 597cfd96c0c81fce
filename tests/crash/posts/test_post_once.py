"""Posts about releases, watches, open pull requests and incidents stand once, whenever their process is killed.

All of them are made by one function. The tests of each feature say that it comes again with the same key.
"""

import multiprocessing
import os
import signal
from datetime import timedelta

from redis import Redis

from bot.features.posting import post_once
from bot.platform.slack.blocks import Post
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import SlackMessenger
from bot.platform.store.connection import connect_server
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON


class Dying(SlackMessenger):
    def post_message(self, *arguments: object) -> str:
        super().post_message(*arguments)  # type: ignore[arg-type]
        os.kill(os.getpid(), signal.SIGKILL)
        return ""


def post_news(store_url: str, slack_url: str, messenger: type[SlackMessenger] = SlackMessenger) -> None:
    with connect_server(store_url) as store:
        app = make_app(store, messenger=messenger(make_slack_client("xoxb-test", slack_url)))
        app.now = lambda: NOON - timedelta(days=1)
        post_once(app, "C0HOME", "release:C0HOME:ascend:v1.2.0", Post("News", ()))


def test_a_process_that_is_killed_before_it_notes_its_post_is_followed_by_one_that_finds_it(
    store: Redis, store_url: str, slack: SlackEmulator
) -> None:
    slack.add_channel("C0HOME", "home")
    killed = multiprocessing.get_context("spawn").Process(target=post_news, args=(store_url, slack.url, Dying))
    killed.start()
    killed.join(60)
    assert killed.exitcode == -signal.SIGKILL
    for _ in range(2):
        post_news(store_url, slack.url)
    assert [each["text"] for each in slack.list_messages("C0HOME")] == ["News"]
