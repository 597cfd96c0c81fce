"""Which digests of a repository were posted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from redis import Redis

from bot.adapters.redis.records.posted_digests import RedisPostedDigestIndex
from bot.domain.pull_requests.models import Repository

ENGINE = Repository("octo", "engine")
END = datetime(2026, 3, 1, 8, tzinfo=UTC)
DAY = timedelta(days=1)


def test_digests_are_found_by_the_end_of_their_days_oldest_first(store: Redis) -> None:
    issued = RedisPostedDigestIndex(store)
    for days in (2, 0, 1, 3):
        issued.add(ENGINE, END + days * DAY, f"digest:{days}")
    assert issued.list_between(ENGINE, END + DAY, END + 2 * DAY) == ("digest:1", "digest:2")


def test_one_that_is_noted_twice_is_there_once_and_in_any_spelling_of_the_repository(store: Redis) -> None:
    issued = RedisPostedDigestIndex(store)
    for repository in (ENGINE, Repository("Octo", "ENGINE"), Repository("octo", "other")):
        issued.add(repository, END, "digest:1")
    assert issued.list_between(ENGINE, END, END) == ("digest:1",)
    assert issued.list_between(Repository("octo", "none"), END, END) == ()
