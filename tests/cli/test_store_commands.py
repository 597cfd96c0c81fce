"""What a digest, questions, votes and subscriptions leave in a store, and how it moves to another one."""

from __future__ import annotations

import json
import stat
import time as clock
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from redis import Redis

from bot.adapters.redis.due_queue import RedisDueQueue, RedisRunLog, RedisSubscriptionStore
from bot.adapters.redis.transfer.transfer import StoreTransfer
from bot.app import open_app, prepare_listeners, prepare_worker
from bot.domain.conversations.thread import Question
from bot.domain.keyspace.keys import QUESTION_QUEUE
from bot.domain.operations.run import Run, RunOutcome
from bot.domain.subscriptions.due_items import NextDigest
from bot.domain.subscriptions.models import Subscription, Timing
from bot.jobs import DramatiqJobQueue
from bot.platform.store.connection import connect_server
from bot.platform.store.schema import SCHEMA_KEY, find_exported_family
from bot.render.blocks.button_values import FeedbackVerdict
from bot.services.jobs.job_types import ANSWER_QUESTIONS, POST_PUBLIC_NOTICE, RECORD_VOTE
from bot.services.jobs.payloads import NoticePayload, ThreadPayload, VotePayload
from bot.settings import load_settings
from handlers import COMMANDS
from handlers.commands.summary import SUMMARY_JOB
from tests.emulators.claude.server import Text, default_answer
from tests.helpers.builders import DAY, NOON, REPOSITORY
from tests.helpers.checks import eventually, is_one_sentence, waiting_jobs
from tests.helpers.processes.command import prdigest
from tests.helpers.processes.jobs import enqueue
from tests.helpers.world import CHANNEL, SMALL_DAY, World, add_small_day, world
from tests.scenarios.conversations.asking import is_question
from tests.services.doubles import slack_request

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
    RedisSubscriptionStore(store).put(subscription)
    RedisDueQueue(store).put(NextDigest(subscription.id), NOON)
    RedisRunLog(store).add_run(Run(NOON, f"digest:{CHANNEL}", RunOutcome.POSTED))
    lead = there.digest()[0]["ts"]
    asked = slack_request(channel=CHANNEL, thread=lead, response_url=HOOK)
    place = f"{CHANNEL}:{lead}"
    with open_app(load_settings(), lambda: datetime.now(UTC), clock.sleep) as base:
        web, services = prepare_listeners(base.hurry()), prepare_worker(base)
        assert web.access_control.explain_refusal(asked) == ""
        web.thread_muting.mute(CHANNEL, lead)
        web.cache.put(f"asked:{asked.key}", "", timedelta(hours=1))
        web.question_queue.add_question(place, Question(asked, ASKED, f"{clock.time():.6f}"))
        jobs = DramatiqJobQueue(base.hurry().store, base.keyspace, COMMANDS.jobs, services)
        workers = jobs.make_workers(2)
        for worker in workers:
            worker.start()
        jobs.send(ANSWER_QUESTIONS, ThreadPayload(place))
        enqueue(jobs, services, SUMMARY_JOB, slack_request("command:2", channel=CHANNEL), "101")
        answer = eventually(lambda: answers(there, lead))[0]
        eventually(lambda: not waiting_jobs(store))
        jobs.send(RECORD_VOTE, VotePayload(replace(asked, response_url=""), answer["ts"], FeedbackVerdict.GOOD))
        # and what nobody takes stays on the queue
        eventually(lambda: list(services.answer_votes.iterate_votes()))
        eventually(lambda: not waiting_jobs(store))
        for worker in workers:
            worker.stop()
        jobs.send(POST_PUBLIC_NOTICE, NoticePayload(asked, "Hello."))
        web.question_queue.add_question(place, Question(asked, "And now?", f"{clock.time():.6f}"))
        jobs.close()


def answers(there: World, lead: str) -> list[dict[str, Any]]:
    """The bot's answers to questions in a thread."""
    return [message for message in there.slack.list_replies(CHANNEL, lead) if "It counts retries." in str(message)]


def keys(store: Redis) -> dict[str, int]:
    """Every key with its lifetime in seconds; -1 has none."""
    return {cast("bytes", key).decode(): int(str(store.ttl(key))) for key in store.scan_iter()}


def refusal(there: World, folder: Path, *arguments: str) -> str:
    done = prdigest(*arguments, settings=there.settings, folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_sentence(done.stderr.rstrip("\n")), done.stderr
    return done.stderr


def test_what_was_done_moves_to_another_store_and_the_cache_does_not(
    there: World, store: Redis, store_url: str, tmp_path: Path
) -> None:
    done = prdigest("digest", *SMALL_DAY, "--channel", CHANNEL, settings=there.settings, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    use(there, store)

    lifetimes = keys(store)
    lasting = {key for key in lifetimes if find_exported_family(key)}
    assert {key.partition(":")[0] for key in lasting} == {
        "subscriptions",
        "agenda",
        "journal",
        "votes",
        "digest",
        "thread",
        "attention",
        "history",
        "issued",
    }
    assert {key: lifetimes[key] for key in lasting} == dict.fromkeys(lasting, -1), "none of them expires"
    others = {key for key in lifetimes if key not in lasting and not key.startswith("dramatiq:")} - {
        SCHEMA_KEY,
        "owner",
    }
    assert len(others) > 9
    # questions in flight are answered here, and never lost to an eviction
    kept = [key for key in others if lifetimes[key] == -1 and not key.startswith(QUESTION_QUEUE.prefix)]
    assert kept == [], "all others do"

    (tmp_path / "moved.jsonl").write_text("older")
    done = prdigest("export", "--out", "moved.jsonl", settings=there.settings, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["moved.jsonl"]
    assert stat.S_IMODE((tmp_path / "moved.jsonl").stat().st_mode) == 0o600
    text = (tmp_path / "moved.jsonl").read_text()
    assert {json.loads(line)["key"] for line in text.split("\n")[1:-2]} == lasting
    assert ASKED in text
    secrets = [there.settings[name] for name in ("GITHUB_TOKEN", "ANTHROPIC_API_KEY", "SLACK_BOT_TOKEN")]
    assert [secret for secret in (*secrets, HOOK) if secret in text] == []

    with connect_server(f"{store_url}?db=1") as other:
        there.settings["REDIS_URL"] = f"{store_url}?db=1"
        done = prdigest("import", "-", settings=there.settings, folder=tmp_path, typed=text)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines() == [
            "agenda: 2",
            "attention: 1",
            "digest: 1",
            "history: 1",
            "issued: 1",
            "journal: 2",
            "subscriptions: 1",
            "thread: 1",
            "votes: 1",
        ]
        assert keys(other) == dict.fromkeys({*lasting, SCHEMA_KEY}, -1)
        again = list(StoreTransfer(other).export_lines(NOON, lambda *_: None))
    assert again[1:] == text.split("\n")[1:-1]


def test_what_can_not_be_imported_is_told_in_one_sentence(there: World, store: Redis, tmp_path: Path) -> None:
    (tmp_path / "half.jsonl").write_text(
        f'{{"prdigest": "export", "schema": 2, "at": "{NOON.isoformat()}"}}\n{{"key'
    )
    message = refusal(there, tmp_path, "import", "half.jsonl")
    assert message == "Line 2 is not a JSON object: the file is damaged, or is not an export.\n"
    assert keys(store) == {}


def test_what_can_not_be_written_is_told_in_one_sentence(there: World, tmp_path: Path) -> None:
    message = refusal(there, tmp_path, "export", "--out", "nowhere/moved.jsonl")
    assert message == "nowhere/moved.jsonl can't be written (No such file or directory): choose a file.\n"
    assert list(tmp_path.iterdir()) == []
