"""What was recorded of requests before records had a version goes on as it would have."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from redis import Redis

from bot.adapters.slack.ephemeral_messenger import SlackEphemeralMessenger
from bot.adapters.slack.messenger import SlackMessenger, make_slack_client
from bot.domain.conversations.slack_request import Audience
from bot.services.slack.answers.answer import Answer
from bot.services.slack.answers.answered_request import RequestState
from bot.services.slack.answers.replies import ReplySender
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.builders import NOON
from tests.helpers.records import answer_store, plant_hash
from tests.services.digest.posting import HOME, post
from tests.services.doubles import slack_request

KEY = "answer:command:1:risks"
BEGUN = {"begun": (NOON - timedelta(days=1)).isoformat()}
DONE = {**BEGUN, "done": NOON.isoformat()}
QUESTION = {**BEGUN, "message": "100.5", "tries": "3", "draft": json.dumps({"text": "Yes."})}


def give(slack: SlackEmulator, store: Redis) -> list[str]:
    """Answer the request; what stands in the channel then."""
    client = make_slack_client(slack.token, slack.url)
    replies = ReplySender(
        SlackMessenger(client), SlackEphemeralMessenger(client), answer_store(store), lambda: NOON
    )
    answer = Answer(post("For everybody"), post("For you"))
    replies.give_answer(slack_request(key="command:1", channel=HOME), "risks", Audience.CHANNEL, lambda: answer)
    return [message["text"] for message in slack.list_messages(HOME)]


@pytest.mark.parametrize(
    ("fields", "state", "expected"),
    [
        ({}, RequestState.NEW, ["For everybody"]),
        (BEGUN, RequestState.BEGUN, ["For everybody"]),
        (DONE, RequestState.ANSWERED, []),
    ],
    ids=["new", "begun", "answered"],
)
def test_a_request_is_answered_once(
    slack: SlackEmulator, store: Redis, fields: dict[str, str], state: RequestState, expected: list[str]
) -> None:
    if fields:
        plant_hash(store, KEY, **fields)
    assert answer_store(store).load(KEY).state is state
    assert give(slack, store) == expected
    assert give(slack, store) == expected
    assert answer_store(store).load(KEY).state is RequestState.ANSWERED


def test_one_that_may_have_been_answered_is_looked_for(slack: SlackEmulator, store: Redis) -> None:
    SlackMessenger(make_slack_client(slack.token, slack.url)).post_message(
        HOME, post("Before").build_payload(), KEY
    )
    plant_hash(store, KEY, **BEGUN)
    assert give(slack, store) == ["Before"]


def test_a_question_goes_on_with_its_message_and_its_draft(store: Redis) -> None:
    plant_hash(store, KEY, **QUESTION)
    record: Any = answer_store(store).load(KEY)
    assert (record.state, record.message, record.attempts, json.loads(record.draft_json)) == (
        RequestState.BEGUN,
        "100.5",
        3,
        {"text": "Yes."},
    )


def test_who_was_told_is_not_told_again(store: Redis) -> None:
    later = NOON + timedelta(minutes=5)
    plant_hash(store, KEY, troubled=NOON.isoformat(), excused=later.isoformat())
    plant_hash(store, f"{KEY}:later", since=NOON.isoformat(), told=later.isoformat())
    record, pause = answer_store(store).load(KEY), answer_store(store).load(f"{KEY}:later")
    assert (record.refused_at, record.excused_at) == (NOON, later)
    assert (pause.postponed_at, pause.promised_at) == (NOON, later)
