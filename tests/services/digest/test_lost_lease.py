"""A process loses its right to post while the store is away, and another does the same work: posted once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from redis import Redis

from bot.adapters.redis.connection import RedisPostRecords
from bot.domain.conversations.slack_request import Audience
from bot.domain.errors import InProgress
from bot.ports import PostRecords
from bot.render.digest.post import Rendered
from bot.services.slack.replies import Answer, Replies
from tests.services.digest.posting import (
    MORNING,
    PARTS,
    Build,
    MemoryMessenger,
    MemoryRecords,
    post,
    publish,
    rendered,
)
from tests.services.doubles import MemoryWhispers, visit

ANSWER = Answer(post("For everybody"), post("For you"))


@pytest.mark.parametrize("audience", [Audience.CHANNEL, Audience.SHARED])
def test_an_answer_that_another_process_gave_meanwhile_is_not_given_again(audience: Audience) -> None:
    messenger, whispers = MemoryMessenger(), MemoryWhispers()
    replies, asked = Replies(messenger, whispers, MemoryRecords(), lambda: MORNING), visit()

    def slowly() -> Answer:
        """The records of this test let everybody in, as after a lease that ran out."""
        replies.give(asked, "summary", audience, lambda: ANSWER)
        return ANSWER

    with pytest.raises(InProgress):
        replies.give(asked, "summary", audience, slowly)
    replies.give(asked, "summary", audience, lambda: ANSWER)
    assert [text for *_, text in messenger.messages] == ["For everybody"]
    assert whispers.said == []


def test_a_digest_that_another_process_posted_meanwhile_is_not_posted_again() -> None:
    messenger, records = MemoryMessenger(), MemoryRecords()

    def slowly() -> Rendered:
        publish(messenger, records, Build())
        return rendered("Engine 2")

    with pytest.raises(InProgress):
        publish(messenger, records, slowly)
    assert publish(messenger, records, Build()).already
    assert [text for *_, text in messenger.messages] == ["Engine 1", *PARTS]


@pytest.fixture(params=["memory", "store"])
def records(request: pytest.FixtureRequest, store: Redis) -> PostRecords:
    return MemoryRecords() if request.param == "memory" else RedisPostRecords(store, timedelta(days=1))


def test_a_field_is_claimed_once(records: PostRecords) -> None:
    records.claim("answer:1", "begun", "now")
    with pytest.raises(InProgress):
        records.claim("answer:1", "begun", "later")
    records.claim("answer:2", "begun", "later")
    assert (records.load("answer:1"), records.load("answer:2")) == ({"begun": "now"}, {"begun": "later"})


def test_a_claim_with_a_lifetime_runs_out(store: Redis) -> None:
    RedisPostRecords(store, timedelta(hours=2)).claim("answer:1", "begun", "now")
    assert 7_190 <= int(str(store.ttl("answer:1"))) <= 7_200
