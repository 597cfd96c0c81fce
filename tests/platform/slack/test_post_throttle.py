import threading
import time
from collections.abc import Iterator

import pytest

from bot.errors import SlackUnavailable
from bot.platform import deadlines
from bot.platform.deadlines import ProcessShutdown, ShutdownSignal
from bot.platform.slack.client import MAX_PAUSE, PostThrottle, make_slack_client
from bot.platform.slack.messenger import SlackMessenger
from bot.platform.slack.notices import render_notice
from bot.platform.worker_threads import DeadlineExecutor
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.world import CHANNEL


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Never(ShutdownSignal):
    """Keeps what it should wait for, and waits for nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)


@pytest.fixture
def never() -> Iterator[Never]:
    ending = Never()
    with deadlines.bound_work(1_000, ending):
        yield ending


def test_posts_to_one_channel_come_a_second_apart(never: Never) -> None:
    pace = PostThrottle(clock := Clock())
    for _ in range(3):
        pace.wait_for_turn("C1")
    pace.wait_for_turn("C2")
    clock.now = 2.25
    pace.wait_for_turn("C1")
    clock.now = 100
    pace.wait_for_turn("C1")
    assert never.waited == [1.0, 2.0, 0.75]


def test_who_would_wait_too_long_is_told_how_long_and_takes_no_turn(never: Never) -> None:
    pace = PostThrottle(clock := Clock())
    for _ in range(MAX_PAUSE + 1):
        pace.wait_for_turn("C1")
    for _ in range(2):
        with pytest.raises(SlackUnavailable) as caught:
            pace.wait_for_turn("C1")
        assert caught.value.retry_after == MAX_PAUSE + 1
    clock.now = 1
    pace.wait_for_turn("C1")
    assert never.waited[-1] == MAX_PAUSE


def test_nobody_waits_past_the_deadline_of_the_work(never: Never) -> None:
    pace = PostThrottle(Clock())
    with deadlines.bound_work(1.5):
        pace.wait_for_turn("C1")
        pace.wait_for_turn("C1")
        with pytest.raises(SlackUnavailable):
            pace.wait_for_turn("C1")
    assert len(never.waited) == 1


def test_the_end_of_the_process_ends_a_wait() -> None:
    pace, ending = PostThrottle(), ShutdownSignal()
    pace.wait_for_turn("C1")
    threading.Timer(0.2, ending.trigger).start()
    with deadlines.bound_work(60, ending), pytest.raises(ProcessShutdown):
        pace.wait_for_turn("C1")


def test_channels_that_were_quiet_are_forgotten(never: Never) -> None:
    pace = PostThrottle(clock := Clock())
    for number in range(5_000):
        clock.now += 0.01
        pace.wait_for_turn(f"C{number}")
    assert never.waited == []
    assert len(pace._free) <= 1_001


@pytest.mark.slow
def test_threads_that_post_at_once_are_never_refused() -> None:
    with SlackEmulator(posts_per_second=1.0) as slack:
        pace = PostThrottle()
        messenger = SlackMessenger(make_slack_client(slack.token, slack.url, throttle=pace))
        began = time.monotonic()
        with DeadlineExecutor(8, "posts") as crew:
            crew.map_items(
                lambda n: messenger.post_message(CHANNEL, render_notice(f"{n}").build_payload(), f"key {n}"),
                range(8),
            )
        assert time.monotonic() - began > 6.5
        assert len(slack.list_calls_to("chat.postMessage")) == len(slack.list_messages(CHANNEL)) == 8
