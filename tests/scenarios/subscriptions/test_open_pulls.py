"""Open pull requests that would break a team's code: asked for, and by a weekly subscription that says so."""

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.dates import WEEKDAYS
from bot.features.digest.posts import DigestRecords
from bot.features.subscriptions.open_pulls import OPEN_POSTS, post_open_pulls
from bot.features.subscriptions.rules import Subscription
from bot.features.subscriptions.schedule import enqueue_due
from bot.jobs.queues import DramatiqJobQueue
from bot.platform.store.connection import UNPREFIXED
from bot.platform.store.due_queue import DueQueue, NextDigest
from bot.platform.store.tables import Store
from tests.emulators.github.store import changed_file, pull, sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.apps import make_app
from tests.helpers.checks import eventually
from tests.helpers.records import digest_store
from tests.helpers.world import as_read
from tests.scenarios import Bot, both_transports
from tests.scenarios.commands.test_contract import RUN, STOP, profile
from tests.scenarios.subscriptions.regularly import subscriptions, type_command

SEEN = "plugin/worker.py:7 breaks: core.stop is gone (core.py:5)."


def add_open(bot: Bot, repository: str) -> int:
    number = bot.unused_number()
    for oid, text in ((sha(f"base {number}"), RUN + STOP), (sha(f"head {number}"), RUN)):
        bot.world.github.add_commit(repository, TreeCommit(oid, FixedTree({"engine/core.py": Entry(text)})))
    fields = {"files": (changed_file("engine/core.py"),), "updated_at": datetime.now(UTC)}
    bot.world.github.add(repository, pull(number, state="OPEN", title=f"Change {number}", **fields))
    return number


def tick(bot: Bot, subscription: Subscription) -> datetime:
    """What another clock does when the digest of a subscription is due."""
    due = subscription.timing.find_last_before(datetime.now(UTC))
    DueQueue(bot.store).put(NextDigest(subscription.id), due)
    records = DigestRecords(digest_store(bot.store), lambda: "T0TEAM")
    app = make_app(bot.store, now=lambda: datetime.now(UTC), digest_records=records)
    with closing(DramatiqJobQueue(bot.store, UNPREFIXED)) as jobs:
        # a minute later the clock finds what the first one added
        for _ in range(2):
            enqueue_due(app, jobs)
    bot.settle()
    return due


def list_posts(bot: Bot, channel: str) -> list[str]:
    return [text for each in bot.list_posts(channel) if (text := as_read(each)).startswith("Open pull requests")]


def count_lists(bot: Bot, repository: str) -> int:
    name = repository.partition("/")[2].encode()
    calls = [call.body for call in bot.world.github.calls if call.path == "/graphql"]
    return sum(b"query Open(" in body and name in body for body in calls)


@both_transports
def test_a_week_passes_and_the_post_comes_once_also_after_a_crash(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    number = add_open(bot, repository)
    profile(bot, repository, f"team-{number}")
    today = WEEKDAYS[datetime.now(bot.zone).weekday()]
    words = f"subscribe {repository} weekly {today} 00:01 tz {bot.zone} profile:team-{number}"
    shown = type_command(bot, ada, f"{words} open", channel)
    assert f"profile:team-{number}, and open pull requests that would break it, in #" in as_read(shown)
    (made,) = subscriptions(bot, channel)
    assert count_lists(bot, repository) == 0
    due = tick(bot, made)
    eventually(lambda: list_posts(bot, channel), 30)
    [post] = list_posts(bot, channel)
    assert f"#{number} Change {number} — {SEEN}" in post
    # the worker died before its last line, and the queue gives the job to another one
    kept = Store(bot.store).get(OPEN_POSTS, made.id)
    assert kept
    assert kept.heads == {number: sha(f"head {number}")}
    Store(bot.store).put(OPEN_POSTS, replace(kept, due=kept.due - timedelta(days=7)), made.id)
    with closing(DramatiqJobQueue(bot.store, UNPREFIXED)) as jobs:
        post_open_pulls.send_to(jobs, made.id, due)
        post_open_pulls.send_to(jobs, made.id, due)
    assert len(list_posts(bot, channel)) == 1
    assert Store(bot.store).get(OPEN_POSTS, made.id) == kept
    # what is said again changes only that
    assert as_read(type_command(bot, ada, f"{words} no-open", channel)).startswith("Changed: ")
    asked = count_lists(bot, repository)
    tick(bot, subscriptions(bot, channel)[0])
    assert count_lists(bot, repository) == asked
    assert len(list_posts(bot, channel)) == 1


def test_off_by_default_nothing_is_read(http_bot: Bot) -> None:
    repository, channel, ada = http_bot.repository(), http_bot.channel(), http_bot.person()
    number = add_open(http_bot, repository)
    profile(http_bot, repository, f"team-{number}")
    today = WEEKDAYS[datetime.now(http_bot.zone).weekday()]
    words = f"subscribe {repository} weekly {today} 00:01 tz {http_bot.zone} profile:team-{number}"
    type_command(http_bot, ada, words, channel)
    (made,) = subscriptions(http_bot, channel)
    tick(http_bot, made)
    eventually(lambda: http_bot.list_posts(channel), 30)
    assert (count_lists(http_bot, repository), list_posts(http_bot, channel)) == (0, [])


def test_it_is_weekly_and_of_a_profile(http_bot: Bot) -> None:
    channel, ada, repository = http_bot.channel(), http_bot.person(), http_bot.repository()
    sentence = "Open pull requests come once a week, for a profile: add weekly monday and profile:NAME."
    for words in ("at 09:00 open", "weekly monday open"):
        assert sentence in as_read(type_command(http_bot, ada, f"subscribe {repository} {words}", channel))
    ack = ada.send_command("/prdigest", f"subscribe {repository} weekly monday open no-open", channel).ack
    assert ack.text.startswith("You wrote both 'open' and 'no-open': leave one out.")
    assert subscriptions(http_bot, channel) == []


@both_transports
def test_who_asks_is_shown_the_list_alone(bot: Bot) -> None:
    repository, channel, ada = bot.repository(), bot.channel(), bot.person()
    number = add_open(bot, repository)
    profile(bot, repository, f"team-{number}")
    shown = type_command(bot, ada, f"open profile:team-{number}", channel)
    assert f"#{number} Change {number} — {SEEN}" in as_read(shown)
    assert bot.list_posts(channel) == []
    type_command(bot, ada, f"open profile:team-{number}", channel)
    # the head was read before
    paths = [call.path for call in bot.world.github.calls]
    assert sum(f"{repository}/compare/" in path for path in paths) == 1
    ack = ada.send_command("/prdigest", "open 7d", channel).ack
    assert ack.text.startswith("I don't understand '7d': write open, or add profile:NAME.")
