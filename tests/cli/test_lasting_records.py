"""What a digest, questions, votes and subscriptions leave in a store: what lasts, and what expires."""

import time as clock
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from redis import Redis

from bot.app import open_app, prepare_listeners, prepare_worker
from bot.features.questions.rules import Question
from bot.features.questions.service import ATTENTION, QUESTIONS, Attention, enqueue_question
from bot.features.questions.view import iterate_votes, record_vote
from bot.features.subscriptions.rules import Run, RunOutcome, Subscription, Timing
from bot.features.summaries.service import answer_summaries
from bot.jobs.queues import DramatiqJobQueue, post_public_notice
from bot.platform.slack.blocks import FeedbackVerdict
from bot.platform.store.connection import unpack_value
from bot.platform.store.due_queue import DueQueue, NextDigest
from bot.platform.store.keys import DurableFamily, find_family
from bot.settings import load_settings
from tests.emulators.claude.server import Text, default_answer
from tests.helpers.builders import DAY, NOON, REPOSITORY
from tests.helpers.checks import eventually, waiting_jobs
from tests.helpers.doubles import slack_request
from tests.helpers.processes.command import prdigest
from tests.helpers.processes.jobs import enqueue, working
from tests.helpers.subscriptions import RunLog, StoredSubscriptions
from tests.helpers.world import CHANNEL, SMALL_DAY, World, add_small_day, world
from tests.scenarios.conversations.asking import is_question

pytestmark = pytest.mark.slow

ASKED = "Does it change a default? Größe 🎉"
HOOK = "https://hooks.slack.com/commands/T0TEAM/7/secret-of-the-visit"


@pytest.fixture
def there(store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with world(store_url) as made:
        add_small_day(made.github)
        made.claude.respond = lambda body: (
            Text("<answer>It counts retries.</answer>") if is_question(body) else default_answer(body)
        )
        made.settings.update(PRDIGEST_REPO="octo/engine", PRDIGEST_TIMEZONE=DAY.zone.key)
        for name, value in made.settings.items():
            monkeypatch.setenv(name, value)
        yield made


def use(there: World, store: Redis) -> None:
    """What a team does in a day: on the desk, through the queue, by the clock."""
    subscription = Subscription(CHANNEL, REPOSITORY, Timing(time(8), DAY.zone))
    StoredSubscriptions(store).put(subscription)
    DueQueue(store).put(NextDigest(subscription.id), NOON)
    RunLog(store).add_run(Run(NOON, f"digest:{CHANNEL}", RunOutcome.POSTED))
    lead = there.digest()[0]["ts"]
    asked = slack_request(channel=CHANNEL, thread=lead, response_url=HOOK)
    with open_app(load_settings(), lambda: datetime.now(UTC), clock.sleep) as base:
        web, services = prepare_listeners(base.hurry()), prepare_worker(base)
        assert web.access_control.explain_refusal(asked) == ""
        web.tables.put(ATTENTION, Attention(is_on=False), CHANNEL, lead)
        web.cache.put(f"asked:{asked.key}", "", timedelta(hours=1))
        jobs = DramatiqJobQueue(base.hurry().store, base.keyspace, services)
        with working(jobs.make_workers(2)):
            enqueue_question(web.tables, jobs, Question(asked, ASKED, f"{clock.time():.6f}"))
            enqueue(jobs, services, answer_summaries, slack_request("command:2", channel=CHANNEL), "101")
            answer = eventually(lambda: answers(there, lead))[0]
            eventually(lambda: not waiting_jobs(store))
            record_vote.send_to(jobs, replace(asked, response_url=""), answer["ts"], FeedbackVerdict.GOOD)
            # and what nobody takes stays on the queue
            eventually(lambda: list(iterate_votes(services)))
            eventually(lambda: not waiting_jobs(store))
        post_public_notice.send_to(jobs, asked, "Hello.")
        enqueue_question(web.tables, jobs, Question(asked, "And now?", f"{clock.time():.6f}"))
        jobs.close()


def answers(there: World, lead: str) -> list[dict[str, Any]]:
    return [message for message in there.slack.list_replies(CHANNEL, lead) if "It counts retries." in str(message)]


def keys(store: Redis) -> dict[str, int]:
    """Every key with its lifetime in seconds; -1 has none."""
    return {cast("bytes", key).decode(): int(str(store.ttl(key))) for key in store.scan_iter()}


def read_texts(store: Redis, key: str) -> list[str]:
    match store.type(key):
        case b"string":
            packed = [cast("bytes", store.get(key))]
        case b"hash":
            packed = cast("list[bytes]", store.hvals(key))
        case b"list":
            packed = cast("list[bytes]", store.lrange(key, 0, -1))
        case _:
            packed = []
    return [unpack_value(each) for each in packed]


def test_what_is_kept_for_good_does_not_expire_and_holds_no_secret(
    there: World, store: Redis, tmp_path: Path
) -> None:
    done = prdigest("digest", *SMALL_DAY, "--channel", CHANNEL, settings=there.settings, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    use(there, store)

    lifetimes = keys(store)
    durable = {key for key in lifetimes if isinstance(find_family(key), DurableFamily)}
    assert {key.partition(":")[0] for key in durable} == {
        "subscriptions",
        "agenda",
        "journal",
        "votes",
        "digest",
        "thread",
        "attention",
        "history",
        "issued",
        "schema",
        "owner",
        "waiting",
    }
    assert {key: lifetimes[key] for key in durable} == dict.fromkeys(durable, -1), "none of them expires"
    others = {key for key in lifetimes if key not in durable and not key.startswith("dramatiq:")}
    assert len(others) > 9
    assert [key for key in others if lifetimes[key] == -1] == [], "all others do"

    # a question in flight has the address to answer to, until it is answered
    lasting = durable - {"schema", "owner"} - {key for key in durable if QUESTIONS.family.has_key(key)}
    texts = " ".join(text for key in lasting for text in read_texts(store, key))
    assert ASKED in texts
    secrets = [there.settings[name] for name in ("GITHUB_TOKEN", "ANTHROPIC_API_KEY", "SLACK_BOT_TOKEN")]
    assert [secret for secret in (*secrets, HOOK) if secret in texts] == []
