import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from itertools import permutations
from typing import cast

import pytest
from redis import Redis

from bot.errors import StoreUnavailable
from bot.platform.store.connection import Keyspace, connect_server
from bot.platform.store.keys import FAMILIES
from bot.platform.store.tables import Index, Map, Queue, Store, Table
from tests.helpers.builders import DAY
from tests.helpers.checks import closed_port, is_one_sentence


@dataclass(frozen=True)
class Note:
    text: str
    stars: int = 0


@pytest.fixture
def tables() -> tuple[Table[Note], Map[Note]]:
    declared = len(FAMILIES)
    made = Table("toy-note:{channel}:{day}", Note, "notes", days=2), Map("toy-notes", Note, "notes by name")
    # those of the product are read by other tests
    del FAMILIES[declared:]
    return made


def test_a_value_is_loaded_as_it_was_saved(store: Redis, tables: tuple[Table[Note], Map[Note]]) -> None:
    (notes, by_name), box = tables, Store(store, Keyspace("team"))
    assert box.get(notes, "C1", 1) is None
    box.put(notes, Note("one", 3), "C1", 1)
    box.put_field(by_name, "a", Note("named"))
    assert box.get_each(notes, [("C1", 1), ("C1", 2)]) == [Note("one", 3), None]
    assert (box.get_field(by_name, "a"), box.get_field(by_name, "b")) == (Note("named"), None)
    assert box.list_fields(by_name) == {"a": Note("named")}
    assert 0 < store.ttl("team/toy-note:C1:1") <= 2 * 86_400
    assert store.ttl("team/toy-notes") == -1


def test_only_the_first_is_added(store: Redis, tables: tuple[Table[Note], Map[Note]]) -> None:
    notes, box = tables[0], Store(store)
    assert [box.add(notes, Note(text), "C1", 1) for text in ("first", "second")] == [True, False]
    assert box.get(notes, "C1", 1) == Note("first")


def test_a_value_is_made_once_for_all_who_ask(store: Redis, tables: tuple[Table[Note], Map[Note]]) -> None:
    notes, box, made = tables[0], Store(store), []
    barrier = threading.Barrier(4)

    def ask() -> None:
        barrier.wait()
        box.remember(notes, lambda: made.append(1) or Note("made"), "C1", 1)  # type: ignore[func-returns-value]

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (made, box.get(notes, "C1", 1)) == ([1], Note("made"))


@pytest.mark.parametrize("value", [b"", b"p", b"pno json", b"z\0", b"\xff"])
def test_what_cannot_be_read_counts_as_absent(
    store: Redis, tables: tuple[Table[Note], Map[Note]], value: bytes
) -> None:
    notes, box = tables[0], Store(store)
    store.set("toy-note:C1:1", value)
    assert box.get(notes, "C1", 1) is None


def test_what_a_later_version_wrote_is_refused(store: Redis, tables: tuple[Table[Note], Map[Note]]) -> None:
    store.set("toy-note:C1:1", b'p{"version":2,"text":"later"}')
    with pytest.raises(StoreUnavailable, match="newer version"):
        Store(store).get(tables[0], "C1", 1)


def test_a_map_is_read_by_its_parts_and_what_a_later_version_wrote_can_be_left_out(store: Redis) -> None:
    declared = len(FAMILIES)
    by_team: Map[Note] = Map("toy-notes:{team}", Note, "notes of a team by name", counted_as="notes")
    del FAMILIES[declared:]
    box = Store(store)
    box.put_field(by_team, "a", Note("first"), "red")
    box.add_fields(by_team, {"a": Note("second"), "b": Note("new")}, "red")
    assert box.list_fields(by_team, "red") == {"a": Note("first"), "b": Note("new")}
    assert (box.get_field(by_team, "a", "red"), box.get_field(by_team, "a", "blue")) == (Note("first"), None)
    store.hset("toy-notes:red", "c", 'p{"version":2,"text":"later"}')
    assert list(box.list_fields(by_team, "red", skips_later=True)) == ["a", "b"]
    with pytest.raises(StoreUnavailable):
        box.list_fields(by_team, "red")
    box.remove_field(by_team, "c", "red")
    assert list(box.list_fields(by_team, "red")) == ["a", "b"]
    box.remove(by_team, "red")
    assert store.dbsize() == 0


def test_reads_of_what_is_made_again_are_counted(store: Redis) -> None:
    declared = len(FAMILIES)
    cached, kept = (Table(f"toy-{name}", Note, "notes", counted_as=name) for name in ("cached", ""))
    del FAMILIES[declared:]
    reads: list[tuple[str, bool]] = []
    box = Store(store, count_read=lambda cache, is_hit: reads.append((cache, is_hit)))
    box.remember(cached, lambda: Note("made"))
    assert (box.get(cached), box.get(kept)) == (Note("made"), None)
    assert reads == [("cached", False), ("cached", False), ("cached", True)]


def test_fields_and_keys_are_listed_with_what_cannot_be_read(
    store: Redis, tables: tuple[Table[Note], Map[Note]]
) -> None:
    (notes, by_name), box = tables, Store(store, Keyspace("team"))
    for number in range(700):
        box.put_field(by_name, str(number), Note(f"{number}"))
    store.hset("team/toy-notes", "broken", b"no json")
    fields = box.iterate_fields(by_name)
    assert dict(fields) == {"broken": None, **{str(number): Note(f"{number}") for number in range(700)}}
    for parts in (("C1", 1), ("C1", 2), ("C2", "1.5")):
        box.put(notes, Note("x"), *parts)
    assert box.list_keys(notes.family) == [("C1", "1"), ("C1", "2"), ("C2", "1.5")]


# --- queues

PLACE = "C0HOME:1772300000.000100"
KEY = f"toy-queue:{PLACE}"


@pytest.fixture
def queue() -> Queue[Note]:
    declared = len(FAMILIES)
    made = Queue("toy-queue:{place}", Note, "notes that wait")
    del FAMILIES[declared:]
    return made


def drain(box: Store, queue: Queue[Note], place: str = PLACE) -> list[str]:
    """All that wait, each after the one before is gone; the score of each is its number of stars."""
    texts: list[str] = []
    while (first := box.get_first(queue, place)) and len(texts) < 1_000:
        texts.append(first.text)
        box.remove_score(queue, first.stars, place)
    return texts


@pytest.mark.parametrize("order", list(permutations((9, 10, 11))), ids=str)
def test_turns_go_by_score_and_not_by_joining(store: Redis, queue: Queue[Note], order: tuple[int, ...]) -> None:
    box = Store(store)
    assert box.get_first(queue, PLACE) is None
    for score in order:
        for _ in range(2):
            box.enqueue(queue, Note(f"{score}", score), score, PLACE, least=0)
    box.enqueue(queue, Note("elsewhere", 1), 1, "C0HOME:2", least=0)
    box.remove_score(queue, 12, PLACE)
    assert drain(box, queue) == ["9", "10", "11"], "each once"
    assert drain(box, queue, "C0HOME:2") == ["elsewhere"]


def test_who_waited_too_long_is_dropped_when_the_next_one_joins(store: Redis, queue: Queue[Note]) -> None:
    box = Store(store)
    for score in (1, 2, 12):
        box.enqueue(queue, Note(f"{score}", score), score, PLACE, least=score - 11)
    assert drain(box, queue) == ["2", "12"]


@pytest.mark.parametrize(
    "text", ["Größe\n日本 \u2028 \x00 🎉", "", "why? " * 2_000], ids=["signs", "empty", "long"]
)
def test_what_waits_comes_back_as_it_was_and_has_its_version(store: Redis, queue: Queue[Note], text: str) -> None:
    box = Store(store)
    box.enqueue(queue, Note(text, 3), 3, PLACE, least=0)
    (member,) = cast("list[bytes]", store.zrange(KEY, 0, -1))
    assert json.loads(member)["version"] == 1
    assert drain(box, queue) == [text]


def test_nobody_passes_what_cannot_be_read(store: Redis, queue: Queue[Note]) -> None:
    box = Store(store)
    box.enqueue(queue, Note("readable", 3), 3, PLACE, least=0)
    store.zadd(KEY, {json.dumps({"version": 2, "text": "later"}): 2.0})
    with pytest.raises(StoreUnavailable):
        box.get_first(queue, PLACE)
    store.zadd(KEY, {"no json": 1.0})
    with pytest.raises(ValueError, match="Expecting value"):
        box.get_first(queue, PLACE)
    assert store.zcard(KEY) == 3


def test_many_join_at_once_and_none_is_lost(store: Redis, queue: Queue[Note]) -> None:
    box = Store(store)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: box.enqueue(queue, Note(f"{n}", n), n, PLACE, least=0), reversed(range(1, 41))))
    assert drain(box, queue) == [f"{n}" for n in range(1, 41)]


def test_one_holds_the_lease_at_a_time_and_frees_it_also_by_failing(
    store_url: str, store: Redis, queue: Queue[Note]
) -> None:
    box = Store(store)
    with connect_server(store_url) as client:
        other = Store(client)
        with box.try_lease(queue, PLACE, seconds=0) as ours:
            for place, expected in ((PLACE, False), (PLACE, False), ("C0ELSE:1.1", True)):
                with other.try_lease(queue, place, seconds=0) as theirs:
                    assert (ours, theirs) == (True, expected)
            other.enqueue(queue, Note("joins", 1), 1, PLACE, least=0)
            assert drain(box, queue) == ["joins"]
        with pytest.raises(KeyError), other.try_lease(queue, PLACE, seconds=0):
            raise KeyError
    with box.try_lease(queue, PLACE, seconds=0) as ours:
        assert ours
    assert store.dbsize() == 0


AWAY: dict[str, Callable[[Store, Queue[Note]], object]] = {
    "join": lambda box, queue: box.enqueue(queue, Note("x"), 1, PLACE, least=0),
    "first": lambda box, queue: box.get_first(queue, PLACE),
    "leave": lambda box, queue: box.remove_score(queue, 1, PLACE),
    "hold": lambda box, queue: box.try_lease(queue, PLACE, seconds=0).__enter__(),
}


@pytest.mark.slow
@pytest.mark.parametrize("act", AWAY.values(), ids=AWAY)
def test_a_store_that_is_away_is_told_in_one_sentence(
    act: Callable[[Store, Queue[Note]], object], queue: Queue[Note]
) -> None:
    with (
        connect_server(f"redis://127.0.0.1:{closed_port()}/0") as client,
        pytest.raises(StoreUnavailable) as caught,
    ):
        act(Store(client), queue)
    assert is_one_sentence(str(caught.value))


def test_members_are_listed_by_their_instants_and_one_that_is_added_again_is_there_once(store: Redis) -> None:
    declared = len(FAMILIES)
    index, tables = Index("toy-index:{channel}", "notes by day"), Store(store, Keyspace("team"))
    del FAMILIES[declared:]
    day = timedelta(days=1)
    for days in (2, 0, 1, 3, 1):
        tables.add_member(index, f"note {days}", DAY.end + days * day, "C1")
    tables.add_member(index, "another", DAY.end + day, "C2")
    assert tables.list_members(index, DAY.end + day, DAY.end + 2 * day, "C1") == ("note 1", "note 2")
    assert tables.list_members(index, DAY.end, DAY.end, "C2") == ()
    assert store.ttl("team/toy-index:C1") == -1
