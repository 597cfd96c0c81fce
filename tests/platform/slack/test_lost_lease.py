"""A process loses its right to post while the store is away, and another does the same work: posted once."""

from datetime import datetime, timedelta

import pytest
from redis import Redis

from bot.errors import PostingInProgress
from bot.platform.slack.answers import Answer, AnsweredRequest
from bot.platform.slack.replies import ReplySender
from bot.platform.slack.requests import Audience
from bot.platform.store.records import RecordStore
from tests.features.digest.posting import MORNING, MemoryMessenger, post
from tests.helpers.doubles import MemoryWhispers, slack_request
from tests.helpers.records import answer_store, memory_answers

ANSWER = Answer(post("For everybody"), post("For you"))


@pytest.mark.parametrize("audience", [Audience.CHANNEL, Audience.SHARED])
def test_an_answer_that_another_process_gave_meanwhile_is_not_given_again(audience: Audience) -> None:
    messenger, whispers = MemoryMessenger(), MemoryWhispers()
    replies, asked = ReplySender(messenger, whispers, memory_answers(), lambda: MORNING), slack_request()

    def slowly() -> Answer:
        """The records of this test let everybody in, as after a lease that ran out."""
        replies.give_answer(asked, "summary", audience, lambda: ANSWER)
        return ANSWER

    with pytest.raises(PostingInProgress):
        replies.give_answer(asked, "summary", audience, slowly)
    replies.give_answer(asked, "summary", audience, lambda: ANSWER)
    assert [text for *_, text in messenger.messages] == ["For everybody"]
    assert whispers.sent_posts == []


@pytest.fixture(params=["memory", "store"])
def records(request: pytest.FixtureRequest, store: Redis) -> RecordStore[AnsweredRequest]:
    return memory_answers() if request.param == "memory" else answer_store(store)


def claim(records: RecordStore[AnsweredRequest], key: str, at: datetime) -> None:
    records.claim(key, AnsweredRequest(), AnsweredRequest(begun_at=at))


def test_a_field_is_claimed_once(records: RecordStore[AnsweredRequest]) -> None:
    later = MORNING + timedelta(seconds=1)
    claim(records, "answer:1", MORNING)
    with pytest.raises(PostingInProgress):
        claim(records, "answer:1", later)
    claim(records, "answer:2", later)
    assert [records.load(key).begun_at for key in ("answer:1", "answer:2")] == [MORNING, later]


def test_a_claim_with_a_lifetime_runs_out(store: Redis) -> None:
    claim(answer_store(store, timedelta(hours=2)), "answer:1", MORNING)
    assert 7_190 <= int(str(store.ttl("answer:1"))) <= 7_200
