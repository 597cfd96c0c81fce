"""The weekly post of open pull requests: with the digest that asked for it, once, wherever an attempt ends."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from bot.errors import RateLimited
from bot.features.merges.requests import DigestView
from bot.features.subscriptions.open_pulls import post_open_pulls
from bot.features.subscriptions.rules import Subscription
from bot.features.subscriptions.schedule import post_digest
from bot.features.subscriptions.tables import put_subscription
from bot.platform.store.due_queue import NextDigest, OpenPullsPost
from bot.platform.store.keys import build_attempt_key
from tests.emulators.github.store import changed_file, pull, sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.features.digest.posting import Crash, Fragile, Fuse
from tests.features.subscriptions.scheduled import DUE, TIMING
from tests.features.subscriptions.wired import Bot, make_bot
from tests.features.touches.worlds import AFTER, BEFORE, ENTRY, PROFILE
from tests.helpers.builders import REPOSITORY
from tests.helpers.world import as_read
from tests.helpers.worlds import REPO

__all__ = ["make_bot"]
HERE = "C0WEEK"
WEEK = timedelta(days=7)
WEEKLY = Subscription(
    HERE,
    REPOSITORY,
    replace(TIMING, weekday=DUE.astimezone(TIMING.zone).weekday()),
    view=DigestView(profile=ENTRY.name),
    by="U0ADA",
    has_open_pulls=True,
)


def add_open(bot: Bot, number: int, head: str = "") -> None:
    oid = head or sha(f"head {number}")
    for commit, files in ((sha(f"base {number}"), BEFORE), (oid, AFTER)):
        tree = FixedTree({path: Entry(data) for path, data in files.items()})
        bot.github.add_commit(REPO, TreeCommit(commit, tree))
    changed = [changed_file("engine/core.py")]
    bot.github.add(REPO, pull(number, state="OPEN", files=changed, head_sha=oid, updated_at=bot.wall.now))


@pytest.fixture(name="week")
def make_week(bot: Callable[..., Bot]) -> Bot:
    """A bot whose channel has one weekly subscription, which is due, and two open pull requests."""
    made = bot()
    made.slack.add_channel(HERE, "weekly")
    made.base.profiles.put(ENTRY, PROFILE)
    subscribe(made, WEEKLY)
    for number in (101, 102):
        add_open(made, number)
    return made


def subscribe(bot: Bot, subscription: Subscription) -> None:
    put_subscription(bot.base, subscription)
    bot.base.due_queue.put(NextDigest(subscription.id), DUE)


def pass_time(bot: Bot, pause: timedelta = timedelta(minutes=11)) -> int:
    """Time passes, and a worker does what is due; how often open pull requests were to be posted."""
    before = bot.open_posts
    bot.turn(pause)
    return bot.open_posts - before


def list_posts(bot: Bot) -> list[str]:
    return [text for each in bot.slack.list_messages(HERE) if (text := as_read(each)).startswith("Open pull")]


def count_lists(bot: Bot) -> int:
    return sum(b"query Open(" in call.body for call in bot.github.calls)


def test_it_comes_with_the_digest_once_a_week_and_folds_what_it_showed(week: Bot) -> None:
    assert sum(pass_time(week) for _ in range(20)) == 1
    [first] = list_posts(week)
    assert "#102 Change part 102 — plugin/worker.py:7 breaks: core.stop is gone (core.py:5)." in first
    assert count_lists(week) == 1
    assert week.base.due_queue.get_time(OpenPullsPost(WEEKLY.id)) is None
    week.wall.now = DUE + WEEK
    add_open(week, 102, sha("pushed"))
    add_open(week, 103)
    for _ in range(20):
        pass_time(week)
    _, second = list_posts(week)
    assert "#103 Change part 103 — " in second
    assert "#102 Change part 102 (changed since the last message) — " in second
    assert "Still open, as in the last message: #101." in second
    thread = next(
        each for each in week.slack.list_messages(HERE) if "(changed since the last message)" in as_read(each)
    )
    [reply] = week.slack.list_replies(HERE, thread["ts"])
    assert "#101 Change part 101 — " in as_read(reply)


def test_it_comes_also_where_somebody_requested_the_digest_before_its_time(week: Bot) -> None:
    post_digest(week.services, WEEKLY.build_digest_spec(DUE))
    for _ in range(5):
        pass_time(week)
    assert len(list_posts(week)) == 1


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"has_open_pulls": False}, id="off by default"),
        pytest.param({"is_paused": True}, id="paused"),
    ],
)
def test_without_it_nothing_is_asked_for(week: Bot, fields: dict[str, Any]) -> None:
    subscribe(week, replace(WEEKLY, **fields))
    for _ in range(5):
        assert pass_time(week) == 0
    assert (count_lists(week), list_posts(week)) == (0, [])
    assert not any("/compare/" in call.path for call in week.github.calls)


def test_what_was_turned_off_meanwhile_is_dropped(week: Bot) -> None:
    week.base.due_queue.put(OpenPullsPost(WEEKLY.id), DUE)
    week.base.due_queue.put(OpenPullsPost("c0ffee01"), DUE)
    put_subscription(week.base, replace(WEEKLY, has_open_pulls=False))
    week.base.due_queue.drop(NextDigest(WEEKLY.id))
    assert pass_time(week) == 2
    assert pass_time(week) == 0
    assert count_lists(week) == 0


def plan_alone(bot: Bot) -> None:
    """Have nothing due but the open pull requests."""
    bot.base.due_queue.drop(NextDigest(WEEKLY.id))
    bot.base.due_queue.put(OpenPullsPost(WEEKLY.id), DUE)


def test_a_github_that_is_away_is_asked_again_until_a_day_later(
    week: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    # the digest of the settings comes first
    pass_time(week)
    plan_alone(week)
    key = build_attempt_key(WEEKLY.id, DUE.isoformat(), OpenPullsPost.kind)
    for _ in range(2):
        week.base.store.delete(key)
        week.github.set_limit("graphql", 0)
        with pytest.raises(RateLimited):
            pass_time(week)
        # no earlier than the job itself is retried
        assert pass_time(week) == 0
    week.base.store.delete(key)
    week.github.set_limit("graphql", 5_000)
    assert pass_time(week) == 1
    assert len(list_posts(week)) == 1
    plan_alone(week)
    assert pass_time(week, timedelta(days=1)) == 0
    assert week.base.due_queue.get_time(OpenPullsPost(WEEKLY.id)) is None
    assert "are not posted" in caplog.text
    for _ in range(3):
        pass_time(week)
    assert any("the open pull requests of octo/engine" in line for line in week.told), week.told


def test_a_channel_that_refuses_is_not_asked_again(week: Bot, caplog: pytest.LogCaptureFixture) -> None:
    pass_time(week)
    plan_alone(week)
    week.slack.fail_next("chat.postMessage", error="is_archived")
    assert pass_time(week) == 1
    assert week.base.due_queue.get_time(OpenPullsPost(WEEKLY.id)) is None
    assert "are not posted" in caplog.text


# --- an attempt that ends anywhere


def run_once(bot: Bot, fuse: Fuse) -> None:
    plain = bot.services.messenger
    bot.services.messenger = Fragile(plain, fuse)  # type: ignore[assignment]
    bot.services.due_queue = Fragile(bot.base.due_queue, fuse)  # type: ignore[assignment]
    try:
        post_open_pulls.run(bot.services, WEEKLY.id, DUE)
    finally:
        bot.services.messenger, bot.services.due_queue = plain, bot.base.due_queue


CALLS = ["post_message", "post_message", "drop"]


def test_the_list_is_that_of_a_whole_run(week: Bot) -> None:
    for number in range(103, 115):
        add_open(week, number)
    fuse = Fuse()
    run_once(week, fuse)
    assert fuse.calls == CALLS


@pytest.mark.parametrize(("step", "with_effect"), list(product(range(1, len(CALLS) + 1), (False, True))))
def test_whatever_an_attempt_left_the_next_one_completes(week: Bot, step: int, with_effect: bool) -> None:
    for number in range(103, 115):
        add_open(week, number)
    week.base.due_queue.put(OpenPullsPost(WEEKLY.id), DUE)
    fuse = Fuse(step, with_effect)
    with pytest.raises(Crash):
        run_once(week, fuse)
    assert fuse.burnt
    for _ in range(2):
        run_once(week, Fuse())
    [lead] = [each for each in week.slack.list_messages(HERE) if as_read(each).startswith("Open pull")]
    assert len(week.slack.list_replies(HERE, lead["ts"])) == 1
    assert week.base.due_queue.get_time(OpenPullsPost(WEEKLY.id)) is None
    # what was read before is not read again
    assert sum("/compare/" in call.path for call in week.github.calls) == 14


def test_what_is_opened_between_two_attempts_is_new_in_the_next_post(week: Bot) -> None:
    with pytest.raises(Crash):
        run_once(week, Fuse(1, with_effect=True))
    add_open(week, 103)
    run_once(week, Fuse())
    post_open_pulls.run(week.services, WEEKLY.id, DUE + WEEK)
    first, second = list_posts(week)
    assert "#103" not in first
    assert "#103 Change part 103 — " in second
    assert "Still open, as in the last message: #102, #101." in second
