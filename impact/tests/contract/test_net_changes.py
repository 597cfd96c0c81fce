"""What is left of many merges: cases, and a small world whose two ends are compared."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract, Migration
from impact.contract.net_changes import NetChange, build_net_contracts, compute_net_changes
from impact.history.reverts import Revert

NOON = datetime(2025, 12, 1, 12, tzinfo=UTC)
K, C = ChangeKind, ContractClass


def change(kind: ChangeKind, name: str, before: str = "", after: str = "", **fields: Any) -> ContractChange:
    """A change of a function, if nothing else is said."""
    row = ContractChange(C.FUNCTION, kind, name, before, after, "vllm/a.py", 1)
    return replace(row, **fields)


def merge_of(number: int, *changes: ContractChange, **fields: Any) -> MergeContract:
    """A merge; higher numbers are merged later."""
    contract = MergeContract(number, f"{number:040x}", NOON + timedelta(hours=number), f"Change {number}", changes)
    return replace(contract, **fields)


def show(net: tuple[NetChange, ...]) -> list[tuple[str, str, str, str, str, tuple[int, ...]]]:
    return [
        (
            each.change.kind.value,
            each.change.name,
            each.change.before,
            each.change.after,
            each.change.new_name,
            tuple(merge.number for merge in each.merges),
        )
        for each in net
    ]


def run(*merges: tuple[ContractChange, ...]) -> list[tuple[str, str, str, str, str, tuple[int, ...]]]:
    """Return the net changes of merges 1, 2 and so on."""
    return show(compute_net_changes([merge_of(at, *rows) for at, rows in enumerate(merges, 1)]))


def add(name: str, after: str = "", **fields: Any) -> ContractChange:
    return change(K.ADDED, name, "", after, **fields)


def remove(name: str, before: str = "", **fields: Any) -> ContractChange:
    return change(K.REMOVED, name, before, **fields)


def move(name: str, new_name: str, **fields: Any) -> ContractChange:
    return replace(change(K.MOVED, name, name, new_name, new_name=new_name), **fields)


def resign(name: str, before: str, after: str) -> ContractChange:
    return change(K.SIGNATURE, name, before, after)


def test_an_addition_that_is_removed_again_leaves_nothing() -> None:
    assert run((add("v.a.f", "f()"),), (resign("v.a.f", "f()", "f(x)"),), (remove("v.a.f", "f(x)"),)) == []


def test_a_removal_that_is_taken_back_leaves_what_is_different() -> None:
    assert run((remove("v.a.f", "f()"),), (add("v.a.f", "f()"),)) == []
    assert run((remove("v.a.f", "f()"),), (add("v.a.f", "f(x)"),)) == [
        ("signature", "v.a.f", "f()", "f(x)", "", (1, 2))
    ]


def test_signatures_go_from_the_first_to_the_last() -> None:
    steps = ((resign("v.a.f", "f()", "f(x)"),), (resign("v.a.f", "f(x)", "f(x, y)"),))
    assert run(*steps) == [("signature", "v.a.f", "f()", "f(x, y)", "", (1, 2))]
    assert run(*steps, (resign("v.a.f", "f(x, y)", "f()"),)) == []


def test_defaults_of_one_name_are_kept_apart() -> None:
    def flip(before: str, after: str) -> ContractChange:
        return change(K.DEFAULT, "v.a.f", before, after)

    rows = run((flip("x=1", "x=2"), flip("y=1", "y=2")), (flip("y=2", "y=1"),), (flip("x=2", "x=3"),))
    assert rows == [("default", "v.a.f", "x=1", "x=3", "", (1, 3))]


def test_moves_and_renames_are_joined_under_the_first_name() -> None:
    rename = change(K.RENAMED, "v.b.f", "f", "g", new_name="v.b.g")
    assert run((move("v.a.f", "v.b.f"),), (rename,)) == [("renamed", "v.a.f", "v.a.f", "g", "v.b.g", (1, 2))]
    assert run((move("v.a.f", "v.b.f"),), (move("v.b.f", "v.a.f"),)) == []
    assert run((move("v.a.f", "v.b.f"),), (remove("v.b.f", "f()"),)) == [
        ("removed", "v.a.f", "f()", "", "", (1, 2))
    ]


def test_what_happens_in_a_moved_class_is_said_under_its_first_name() -> None:
    moved = move("v.a.C", "v.b.D", subject=C.CLASS)
    later = (resign("v.b.D.f", "f()", "f(x)"), change(K.ADDED_MEMBER, "v.b.D.g", "", "g()", subject=C.METHOD))
    assert run((moved,), later, (move("v.b.D", "v.c.D", subject=C.CLASS),)) == [
        ("signature", "v.a.C.f", "f()", "f(x)", "", (2,)),
        ("added member", "v.a.C.g", "", "g()", "v.c.D.g", (2,)),
        ("moved", "v.a.C", "v.a.C", "v.c.D", "v.c.D", (1, 3)),
    ]


def test_a_module_that_becomes_a_package_can_be_followed() -> None:
    moved = move("v.utils", "v.utils.misc", subject=C.MODULE)
    rows = run((moved,), (resign("v.utils.misc.f", "f()", "f(x)"),))
    assert rows == [
        ("moved", "v.utils", "v.utils", "v.utils.misc", "v.utils.misc", (1,)),
        ("signature", "v.utils.f", "f()", "f(x)", "", (2,)),
    ]


def test_a_shim_that_goes_later_ends_the_old_name() -> None:
    moved = move("v.a.C", "v.b.C", subject=C.CLASS, is_importable=True)
    (kept,) = compute_net_changes([merge_of(1, moved)])
    (gone,) = compute_net_changes([merge_of(1, moved), merge_of(2, remove("v.a.C", subject=C.CLASS))])
    assert (kept.change.is_importable, gone.change.is_importable) == (True, False)
    assert (gone.change.kind, gone.change.new_name) == (K.MOVED, "v.b.C")
    # the class moves with its module, and only the class loses its old name
    module = move("v.a", "v.b", subject=C.MODULE, is_importable=True)
    names = {row[:2] + row[4:5] for row in run((module,), (remove("v.a.C", subject=C.CLASS),))}
    assert names == {("moved", "v.a", "v.b"), ("moved", "v.a.C", "v.b.C")}


def test_a_new_thing_under_an_old_name_is_another_one() -> None:
    rows = run((move("v.a.C", "v.b.C"),), (add("v.a.C", "C()"),), (remove("v.b.C", "C()"),))
    assert rows == [("added", "v.a.C", "", "C()", "", (2,)), ("removed", "v.a.C", "C()", "", "", (1, 3))]


def test_members_of_a_new_or_removed_class_need_no_line() -> None:
    new = (add("v.a.C", subject=C.CLASS),), (change(K.ADDED_MEMBER, "v.a.C.f", subject=C.METHOD),)
    assert [row[1] for row in run(*new, (resign("v.a.C.f", "f()", "f(x)"),))] == ["v.a.C"]
    gone = run((remove("v.a.C.f"), resign("v.a.C.g", "g()", "g(x)")), (remove("v.a.C", subject=C.CLASS),))
    assert [row[:2] for row in gone] == [("removed", "v.a.C")]


def test_a_member_that_becomes_abstract_after_it_was_added_is_new_and_abstract() -> None:
    added = change(K.ADDED_MEMBER, "v.a.C.f", "", "f()", subject=C.METHOD)
    abstract = change(K.ABSTRACT_MEMBER, "v.a.C.f", "f()", "f()", subject=C.METHOD)
    assert [row[:2] for row in run((added,), (replace(abstract, before=""),))] == [
        ("new abstract member", "v.a.C.f")
    ]
    assert [row[:2] for row in run((abstract,))] == [("new abstract member", "v.a.C.f")]


def test_names_that_users_write_are_whole() -> None:
    flag = change(K.RENAMED, "--a.b", "--a.b", "--c.b", new_name="--c.b", subject=C.FLAG)
    removed = remove("--c.b", "--c.b", subject=C.FLAG)
    assert run((flag,), (removed,)) == [("removed", "--a.b", "--c.b", "", "", (1, 2))]
    assert len(run((add("x", subject=C.FLAG),), (remove("x", subject=C.METRIC),))) == 2


def test_known_reverts_take_back_what_shows_no_opposite() -> None:
    deprecated = merge_of(5, change(K.DEPRECATED, "v.a.f", "", "use g"))
    behaviour = merge_of(6, change(K.BEHAVIOUR, "v.a.g"))
    back = [merge_of(7), merge_of(8, change(K.BEHAVIOUR, "v.a.g"))]
    merges = [deprecated, behaviour, *back]
    assert compute_net_changes(merges, [Revert(5, 7), Revert(6, 8)]) == ()
    assert len(compute_net_changes(merges, [Revert(5, 7, is_partial=True)])) == 2
    # its revert is not in the range
    assert len(compute_net_changes(merges, [Revert(5, 99)])) == 2


def test_what_a_revert_leaves_different_is_said() -> None:
    merges = [merge_of(5, resign("v.a.f", "f()", "f(x)")), merge_of(7, resign("v.a.f", "f(x)", "f(y)"))]
    assert show(compute_net_changes(merges, [Revert(5, 7)])) == [("signature", "v.a.f", "f()", "f(y)", "", (5, 7))]


def test_contracts_for_judging_have_the_callers_of_all_names() -> None:
    lines = [Migration("vllm/b.py", at, "f()", "g()") for at in (1, 2)]
    merges = [
        merge_of(1, move("v.a.f", "v.b.f"), migrations={"v.a.f": (lines[0],)}, files=("vllm/z.py",)),
        merge_of(2, resign("v.b.f", "f()", "f(x)"), migrations={"v.b.f": (lines[1],)}),
    ]
    first, second = build_net_contracts(merges, compute_net_changes(merges))
    assert (first.number, [row.kind for row in first.changes], first.files) == (1, [K.MOVED], ("vllm/a.py",))
    assert first.migrations == {"v.a.f": (lines[0],)}
    assert second.migrations == {"v.a.f": (lines[1],)}


# --- a world: classes in modules, members in classes; each step is one merge


@dataclass(frozen=True)
class Item:
    """A class or a member; ``parent`` is the key of its class, or a module."""

    parent: str
    name: str
    text: str


class World:
    def __init__(self) -> None:
        self.items = {"C": Item("v.a", "C", "1"), "D": Item("v.b", "D", "1")}
        self.items |= {f"{k}{n}": Item(k, n, "1") for k in "CD" for n in "fgh"}
        self.removed: dict[str, Item] = {}
        self.merges: list[MergeContract] = []

    def get_name(self, key: str, items: dict[str, Item]) -> str:
        item = items[key]
        parent = self.get_name(item.parent, items) if item.parent in items else item.parent
        return f"{parent}.{item.name}"

    def is_class(self, key: str) -> bool:
        return key in ("C", "D")

    def record(self, row: ContractChange, key: str) -> None:
        subject = C.CLASS if self.is_class(key) else C.METHOD
        self.merges.append(merge_of(len(self.merges), replace(row, subject=subject)))

    def step(self, action: int, choice: int) -> None:
        keys = sorted(self.items)
        key = keys[choice % len(keys)]
        item, name, number = self.items[key], self.get_name(key, self.items), len(self.merges)
        if action == 0:
            after = str(choice % 3)
            if after != item.text:
                self.items[key] = replace(item, text=after)
                self.record(resign(name, item.text, after), key)
        elif action == 1 and not self.is_class(key):
            self.removed[key] = self.items.pop(key)
            self.record(remove(name, item.text), key)
        elif action == 2 and self.removed:
            key = sorted(self.removed)[choice % len(self.removed)]
            self.items[key] = self.removed.pop(key)
            self.record(add(self.get_name(key, self.items), self.items[key].text), key)
        elif action == 3:
            fresh = f"new{number}"
            self.items[fresh] = Item("CD"[choice % 2], fresh, "1")
            self.record(change(K.ADDED_MEMBER, self.get_name(fresh, self.items), "", "1"), fresh)
        elif action == 4:
            # back to the first name now and then
            other = ("", "x", "y")[choice % 3] if self.is_class(key) else item.name + "x"
            place = f"v.{'ab'[choice % 2]}" if self.is_class(key) else item.parent
            moved = replace(item, name=f"{key}{other}", parent=place) if choice % 2 else ORIGINAL[key]
            if moved.name != item.name or moved.parent != item.parent:
                self.items[key] = replace(moved, text=item.text)
                self.record(move(name, self.get_name(key, self.items)), key)

    def compare(self, start: dict[str, Item]) -> set[tuple[str, str, str, str, str]]:
        rows = set()
        for key in start.keys() | self.items.keys():
            old, new = start.get(key), self.items.get(key)
            if old and not new:
                rows.add(("removed", self.get_name(key, start), old.text, "", ""))
            elif new and not old:
                held = f"{self.get_name(new.parent, start)}.{new.name}"
                now = self.get_name(key, self.items)
                rows.add(("added", held, "", new.text, "" if now == held else now))
            elif old and new:
                name = self.get_name(key, start)
                if old.text != new.text:
                    rows.add(("signature", name, old.text, new.text, ""))
                if (old.name, old.parent) != (new.name, new.parent):
                    rows.add(("placed", name, "", "", self.get_name(key, self.items)))
        return rows


ORIGINAL = World().items | {f"new{n}": Item("C", f"new{n}", "1") for n in range(60)}
STEPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40)), max_size=25)
# a part of a range can't know that what it adds was there before
STEPS_WITHOUT_RETURN = st.lists(st.tuples(st.sampled_from((0, 1, 3, 4)), st.integers(0, 40)), max_size=25)


def compare_rows(net: tuple[NetChange, ...]) -> set[tuple[str, str, str, str, str]]:
    rows = set()
    for each in net:
        row = each.change
        if row.kind in (K.MOVED, K.RENAMED):
            rows.add(("placed", row.name, "", "", row.new_name))
        else:
            kind = "added" if row.kind in (K.ADDED, K.ADDED_MEMBER) else row.kind.value
            rows.add((kind, row.name, row.before, row.after, row.new_name))
    return rows


@given(STEPS)
def test_net_changes_are_the_difference_of_both_ends(steps: list[tuple[int, int]]) -> None:
    world = World()
    start = dict(world.items)
    for action, choice in steps:
        world.step(action, choice)
    assert compare_rows(compute_net_changes(world.merges)) == world.compare(start)


@given(STEPS_WITHOUT_RETURN, st.integers(0, 25))
def test_a_range_may_be_split_anywhere(steps: list[tuple[int, int]], at: int) -> None:
    world = World()
    for action, choice in steps:
        world.step(action, choice)
    parts = (compute_net_changes(part) for part in (world.merges[:at], world.merges[at:]))
    joint = [merge_of(number, *(each.change for each in part)) for number, part in enumerate(parts)]
    assert compare_rows(compute_net_changes(joint)) == compare_rows(compute_net_changes(world.merges))


INVERSE = {K.REMOVED: K.ADDED, K.ADDED: K.REMOVED, K.ADDED_MEMBER: K.REMOVED}


def invert(row: ContractChange) -> ContractChange:
    kind = INVERSE.get(row.kind, row.kind)
    back = replace(row, kind=kind, before=row.after, after=row.before)
    return replace(back, name=row.new_name, new_name=row.name) if row.new_name else back


@given(STEPS)
def test_a_range_and_its_inverse_leave_nothing(steps: list[tuple[int, int]]) -> None:
    world = World()
    for action, choice in steps:
        world.step(action, choice)
    inverse = [
        replace(merge, number=100 - merge.number, changes=tuple(invert(row) for row in merge.changes))
        for merge in reversed(world.merges)
    ]
    assert compute_net_changes([*world.merges, *inverse]) == ()


NAMES = st.text("ab.", max_size=6)
ROWS = st.builds(
    ContractChange,
    st.sampled_from(list(C)),
    st.sampled_from(list(K)),
    NAMES,
    NAMES,
    NAMES,
    NAMES,
    st.integers(0, 3),
    new_name=NAMES,
    is_importable=st.booleans(),
)


@given(st.lists(st.lists(ROWS, max_size=4), max_size=12))
def test_rows_that_contradict_each_other_raise_nothing(merges: list[list[ContractChange]]) -> None:
    contracts = [merge_of(at, *rows) for at, rows in enumerate(merges)]
    net = compute_net_changes(contracts)
    assert all(each.merges for each in net)
    built = build_net_contracts(contracts, net)
    assert sum(len(each.changes) for each in built) == len(net)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a." * 20_000, "." * 20_000, "a" * 100_000])
def test_long_names_cost_little(name: str) -> None:
    rows = [move(name, f"{name}.b"), resign(f"{name}.b.c", "1", "2"), remove(f"{name}.b")]
    assert compute_net_changes([merge_of(at, row) for at, row in enumerate(rows * 50)])
