"""What a feature declares as a table: loaded as it was saved, refused where a later version wrote it."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest
from redis import Redis

from bot.domain.errors import StoreUnavailable
from bot.domain.keyspace.family import FAMILIES
from bot.platform.store.keyspace import Keyspace
from bot.platform.store.tables import Map, Store, Table


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
