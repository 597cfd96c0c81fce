"""Votes on a real server: one of each name, and kept for good."""

from __future__ import annotations

import pytest
from redis import Redis

from bot.adapters.redis.records.feedback import RedisFeedbackStore
from bot.domain.errors import StoreUnavailable
from bot.platform.store.connection import connect_server
from tests.helpers.checks import closed_port


@pytest.fixture
def ballot(store: Redis) -> RedisFeedbackStore:
    return RedisFeedbackStore(store)


def test_nobody_has_voted_at_first(ballot: RedisFeedbackStore) -> None:
    assert list(ballot.list_votes()) == []


def test_the_last_vote_of_a_name_counts(ballot: RedisFeedbackStore) -> None:
    ballot.put("1.1:U1", "good")
    ballot.put("1.1:U2", "good")
    ballot.put("1.1:U1", "bad")
    assert sorted(ballot.list_votes()) == ["bad", "good"]


VOTES = {"empty": "", "not-ascii": "Größe 日本 \u2028 \x00 🎉", "large": '{"answer": "' + "words " * 5_000 + '"}'}


@pytest.mark.parametrize("vote", VOTES.values(), ids=VOTES)
def test_a_vote_comes_back_as_it_was_put(ballot: RedisFeedbackStore, vote: str) -> None:
    ballot.put("größe", vote)
    assert list(ballot.list_votes()) == [vote]


@pytest.mark.slow
def test_all_of_many_votes_are_there(ballot: RedisFeedbackStore) -> None:
    for number in range(700):
        ballot.put(f"U{number}", f"{number}")
    assert sorted(ballot.list_votes(), key=int) == [f"{number}" for number in range(700)]


def test_votes_do_not_run_out_and_outlive_who_took_them(
    store_url: str, ballot: RedisFeedbackStore, store: Redis
) -> None:
    with connect_server(store_url) as other:
        RedisFeedbackStore(other).put("U1", "good")
    (key,) = store.scan_iter()
    assert (store.ttl(key), list(ballot.list_votes())) == (-1, ["good"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "act", [lambda ballot: ballot.put("U1", "good"), lambda ballot: list(ballot.list_votes())], ids=["put", "list"]
)
def test_a_store_that_is_away_is_told_in_words(act: object) -> None:
    assert callable(act)
    with connect_server(f"redis://127.0.0.1:{closed_port()}/0") as client, pytest.raises(StoreUnavailable):
        act(RedisFeedbackStore(client))
