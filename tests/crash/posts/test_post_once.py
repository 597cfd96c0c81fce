"""Posts about releases, watches, open pull requests and incidents stand once, whenever their process is killed.

All of them are made by one function. The tests of each feature say that it comes again with the same key.
"""

import multiprocessing
import threading
from datetime import timedelta
from multiprocessing.process import BaseProcess
from typing import Any

import pytest
from redis import Redis

from bot.features.posting import post_once
from bot.platform.slack.blocks import Post, make_block, make_section, make_text
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import SlackMessenger
from bot.platform.store.connection import connect_server
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON

HOME, KEY = "C0HOME", "release:C0HOME:ascend:v1.2.0"


def post_news(store_url: str, slack_url: str, thread: str | None) -> None:
    with connect_server(store_url) as store:
        app = make_app(store, messenger=SlackMessenger(make_slack_client("xoxb-test", slack_url)))
        app.now = lambda: NOON - timedelta(days=1)
        post = Post("News", (make_block(make_section([make_text("News")])),))
        post_once(app, HOME, KEY, post, thread)


@pytest.mark.parametrize(("moment", "in_thread"), [("before", False), ("after", True)])
def test_a_process_that_is_killed_while_it_posts_is_followed_by_one_that_posts_nothing_more(
    store: Redis, store_url: str, slack: SlackEmulator, moment: str, *, in_thread: bool
) -> None:
    slack.add_channel(HOME, "home")
    thread = slack.add_message(HOME, "Releases") if in_thread else None
    struck, aimed, processes = threading.Event(), threading.Event(), list[BaseProcess]()

    def kill(method: str, _arguments: dict[str, Any]) -> None:
        if method == "chat.postMessage" and not struck.is_set():
            aimed.wait()
            processes[0].kill()
            processes[0].join()
            struck.set()

    # before or after Slack posts what it got
    setattr(slack, moment, kill)
    processes.append(
        multiprocessing.get_context("spawn").Process(target=post_news, args=(store_url, slack.url, thread))
    )
    processes[0].start()
    aimed.set()
    assert struck.wait(60)
    for _ in range(2):
        post_news(store_url, slack.url, thread)
    messages = slack.list_replies(HOME, thread) if thread else slack.list_messages(HOME)
    assert [each["text"] for each in messages] == ["News"]
