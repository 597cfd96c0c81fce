from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis import Redis

from bot.dates import parse_zone
from bot.errors import StoreUnavailable
from bot.platform.store.connection import RedisTimeouts, connect_server
from bot.platform.store.due_queue import (
    DigestRepair,
    DueItem,
    DueQueue,
    IncidentReport,
    NextDigest,
    OutcomeCheck,
    ProfileRefresh,
    ReleasePost,
    ReportUpdate,
)
from bot.platform.store.keys import DUE_QUEUE
from impact.repository import Repository
from tests.helpers.checks import closed_port, is_one_sentence

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


@pytest.fixture
def agenda(store: Redis) -> DueQueue:
    return DueQueue(store)


A, B, C = NextDigest("a"), DigestRepair("digest:b"), OutcomeCheck(Repository("octo", "engine"))
OLD, NOTHING = IncidentReport("digest:b#missing"), ReportUpdate("digest:b#missing")
# as they are stored, with what they are
WRITTEN: dict[str, DueItem[Any]] = {
    "5d2cea88": NextDigest("5d2cea88"),
    "mend:digest:T0TEAM:C0GAPS:octo/engine:2026-02-28": DigestRepair(
        "digest:T0TEAM:C0GAPS:octo/engine:2026-02-28"
    ),
    "tell:digest:T0TEAM:C0NEXT:octo/engine:2026-02-28#missing": IncidentReport(
        "digest:T0TEAM:C0NEXT:octo/engine:2026-02-28#missing"
    ),
    "settle:digest:T0TEAM:C0MENDED:octo/engine:2026-02-28#missing": ReportUpdate(
        "digest:T0TEAM:C0MENDED:octo/engine:2026-02-28#missing"
    ),
    "tell:job:7f#lost": IncidentReport("job:7f#lost"),
    "mend::": DigestRepair(":"),
    "scan:ascend": ProfileRefresh("ascend"),
    "release:5d2cea88 v1.2.0": ReleasePost("5d2cea88 v1.2.0"),
    "watch:Octo/Engine.js": OutcomeCheck(Repository("Octo", "Engine.js")),
}
UNKNOWN = ("2;5d2cea88", "2;watch:octo/engine", "wake:o/r", "watch:", "watch:no repository", ":", ":a", "a:b")


class TestAgenda:
    def test_what_is_stored_is_read_moved_and_dropped(self, agenda: DueQueue, store: Redis) -> None:
        store.zadd(DUE_QUEUE.build_key(), {member: NINE.timestamp() + n for n, member in enumerate(WRITTEN)})
        due_items = agenda.list_due(NINE + HOUR)
        assert [item for item, _ in due_items] == list(WRITTEN.values())
        for item, at in due_items:
            agenda.add(item, NINE - HOUR)
            assert agenda.move(item, at, NINE + 2 * HOUR)
        assert store.zcard(DUE_QUEUE.build_key()) == len(WRITTEN)
        for item, _ in due_items:
            agenda.drop(item)
        assert store.zcard(DUE_QUEUE.build_key()) == 0

    def test_what_another_version_planned_is_left_alone(
        self, agenda: DueQueue, store: Redis, caplog: pytest.LogCaptureFixture
    ) -> None:
        store.zadd(DUE_QUEUE.build_key(), dict.fromkeys((*UNKNOWN, "a"), NINE.timestamp()))
        for _ in range(2):
            assert agenda.list_due(NINE) == [(A, NINE)]
        assert store.zcard(DUE_QUEUE.build_key()) == len(UNKNOWN) + 1
        assert caplog.text.count("2;watch:octo/engine") == 1

    def test_what_is_due_comes_oldest_first_and_what_is_not_does_not(self, agenda: DueQueue) -> None:
        for item, hours in ((NextDigest("later"), 1), (B, 0), (OLD, -30), (A, -1)):
            agenda.put(item, NINE + hours * HOUR)
        assert agenda.list_due(NINE) == [(OLD, NINE - 30 * HOUR), (A, NINE - HOUR), (B, NINE)]
        assert agenda.list_due(NINE - SECOND) == [(OLD, NINE - 30 * HOUR), (A, NINE - HOUR)]

    def test_it_is_known_when_something_is_to_be_done(self, agenda: DueQueue) -> None:
        agenda.put(A, NINE.astimezone(parse_zone("Asia/Kathmandu")))
        assert agenda.get_time(A) == NINE
        assert agenda.get_time(NOTHING) is None
        assert agenda.get_times([NOTHING, A]) == [None, NINE]
        assert agenda.get_times([]) == ()

    def test_put_plans_anew_and_add_only_what_is_not_planned(self, agenda: DueQueue) -> None:
        agenda.add(A, NINE)
        agenda.add(A, NINE + HOUR)
        assert agenda.get_time(A) == NINE
        agenda.put(A, NINE + HOUR)
        assert agenda.get_time(A) == NINE + HOUR

    def test_what_is_dropped_is_gone_and_may_be_dropped_again(self, agenda: DueQueue) -> None:
        agenda.put(A, NINE)
        for _ in range(2):
            agenda.drop(A)
        assert agenda.list_due(NINE) == []

    @pytest.mark.parametrize(
        ("planned", "moved"),
        [
            pytest.param(NINE, True, id="as-planned"),
            pytest.param(NINE + SECOND, False, id="moved-by-another"),
            pytest.param(None, False, id="dropped-by-another"),
        ],
    )
    def test_only_what_stands_as_it_was_seen_is_moved(
        self, agenda: DueQueue, planned: datetime | None, moved: bool
    ) -> None:
        if planned:
            agenda.put(A, planned)
        assert agenda.move(A, NINE, NINE + 24 * HOUR) is moved
        assert agenda.get_time(A) == (NINE + 24 * HOUR if moved else planned)

    def test_of_many_those_are_moved_that_stand_as_they_were_seen(self, agenda: DueQueue) -> None:
        agenda.put(A, NINE)
        agenda.put(B, NINE + HOUR)
        agenda.put(C, NINE)
        agenda.move_all([(item, NINE, NINE + 24 * HOUR) for item in (A, B, C, NOTHING)])
        agenda.move_all([])
        assert agenda.get_times([A, B, C, NOTHING]) == [NINE + 24 * HOUR, NINE + HOUR, NINE + 24 * HOUR, None]

    def test_of_many_who_move_the_same_one_does(self, store_url: str, agenda: DueQueue) -> None:
        agenda.put(A, NINE)

        def move(hours: int) -> bool:
            with connect_server(store_url) as client:
                return DueQueue(client).move(A, NINE, NINE + hours * HOUR)

        with ThreadPoolExecutor(8) as pool:
            assert sorted(pool.map(move, range(1, 9))) == [False] * 7 + [True]

    def test_instants_are_kept_to_the_second(self, agenda: DueQueue) -> None:
        agenda.put(A, NINE + SECOND * 0.9)
        assert agenda.list_due(NINE) == [(A, NINE)]
        assert agenda.list_due(NINE - SECOND * 0.1) == []
        assert agenda.move(A, NINE + SECOND * 0.5, NINE + HOUR)


AWAY: dict[str, Callable[[Redis], object]] = {
    "due": lambda client: DueQueue(client).list_due(NINE),
    "at": lambda client: DueQueue(client).get_time(A),
    "at each": lambda client: DueQueue(client).get_times([A]),
    "put": lambda client: DueQueue(client).put(A, NINE),
    "add": lambda client: DueQueue(client).add(A, NINE),
    "move": lambda client: DueQueue(client).move(A, NINE, NINE),
    "move each": lambda client: DueQueue(client).move_all([(A, NINE, NINE)]),
    "drop": lambda client: DueQueue(client).drop(A),
}


def test_a_store_that_is_away_is_told_in_one_sentence() -> None:
    url = f"redis://127.0.0.1:{closed_port()}/0"
    for name, act in AWAY.items():
        with (
            connect_server(url, timeouts=RedisTimeouts(retries=0)) as client,
            pytest.raises(StoreUnavailable) as caught,
        ):
            act(client)
        assert is_one_sentence(str(caught.value)), name
