from dataclasses import replace
from datetime import timedelta

from impact.contract.deprecations import DeprecationLedger, update_ledger
from impact.contract.models import ChangeKind, ContractChange, ContractClass, Deadline, MergeContract
from impact.history.reverts import Revert
from impact.profile.models import DerivedClass, UseKind
from impact.testing.touches import NOON, make_change, make_profile, make_use
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex, find_uses
from impact.touches.upgrade import UpgradePlan, UpgradeRange, build_upgrade_plan

K = ChangeKind
USES = (
    make_use(UseKind.IMPORT, "up.a.run", line=3),
    replace(make_use(UseKind.CALL, "up.a.run", call="run(1)", line=9), path="ours/b.py"),
    replace(make_use(UseKind.IMPORT, "up.a.run", line=2), path="tests/test_a.py", is_test=True),
    make_use(UseKind.IMPORT, "up.a.Gone", line=4),
    make_use(UseKind.FLAG, "--old", line=5),
)


def merge(number: int, *changes: ContractChange) -> MergeContract:
    """A merge; higher numbers are merged later."""
    at = NOON + timedelta(hours=number)
    return MergeContract(number, f"{number:040x}", at, f"Change {number}", changes)


def plan(*contracts: MergeContract, reverts: tuple[Revert, ...] = ()) -> UpgradePlan:
    parents = {each.commit: f"{each.number - 1:040x}" for each in contracts}
    ledger = update_ledger(DeprecationLedger(), contracts)
    way = UpgradeRange("start", "end", contracts, parents, reverts, deprecations=ledger.entries)
    return build_upgrade_plan(way, ProfileIndex(make_profile(USES)))


REMOVAL = make_change(K.REMOVED, "up.a.run", before="def run(a)")


def test_each_file_has_its_own_work_and_tests_come_last() -> None:
    result = plan(merge(1, REMOVAL))
    works = result.files.ignore_coverage()
    assert {work.path for work in works[:2]} == {"ours/a.py", "ours/b.py"}
    assert works[-1].path == "tests/test_a.py"
    (item,) = works[-1].items
    assert ([use.line for use in item.uses], item.level) == ([2], TouchLevel.BREAKS)
    assert (result.merges, result.uses, item.net.merges[0].number) == (1, len(USES), 1)


def test_the_stop_is_before_the_first_merge_of_a_change() -> None:
    moved = replace(make_change(K.MOVED, "up.a.run"), new_name="up.b.run")
    gone = make_change(K.REMOVED, "up.b.run")
    result = plan(merge(1), merge(2, moved), merge(3), merge(4, gone))
    assert [(stop.commit, stop.number) for stop in result.stops] == [(f"{1:040x}", 2)]
    (item, *_) = result.files.ignore_coverage()[0].items
    assert (item.net.change.kind, [each.number for each in item.net.merges]) == (K.REMOVED, [2, 4])


def test_a_class_of_a_test_is_no_reason_to_stop() -> None:
    abstract = merge(1, make_change(K.ABSTRACT_MEMBER, "up.a.Base.run", ContractClass.METHOD))
    for path, stops in (("ours/c.py", 1), ("tests/test_c.py", 0)):
        profile = make_profile(classes=[DerivedClass("ours.C", path, 3, ("up.a.Base",))])
        result = build_upgrade_plan(UpgradeRange("start", "end", (abstract,), {}), ProfileIndex(profile))
        assert (len(result.stops), result.files.is_empty) == (stops, False)


def test_what_was_taken_back_on_the_way_is_left_out() -> None:
    back = make_change(K.ADDED, "up.a.run", after="def run(a)")
    result = plan(merge(1, REMOVAL), merge(2, back))
    assert (result.files.is_empty, result.stops, result.undone) == (True, (), 1)
    known = plan(merge(1, REMOVAL), merge(2), reverts=(Revert(1, 2),))
    assert (known.files.is_empty, known.undone) == (True, 1)


def test_what_a_merge_changed_without_a_row_is_no_net_change() -> None:
    gone = make_change(K.REMOVED, "up.a.Gone", ContractClass.CLASS)
    result = plan(replace(merge(1, REMOVAL), unlisted=(gone,)))
    assert {item.net.change for work in result.files.ignore_coverage() for item in work.items} == {REMOVAL}
    assert result.files.coverage.is_complete


def test_deprecations_are_those_that_are_used() -> None:
    rows = [
        replace(
            make_change(K.DEPRECATED, name, ContractClass.FLAG, after="use --new"),
            deadline=Deadline("v1.2", "--new"),
        )
        for name in ("--old", "--unused")
    ]
    (used,) = plan(merge(1, *rows)).deprecations
    assert (used.entry.name, [use.line for use in used.uses]) == ("--old", [5])


def test_a_deprecated_class_is_used_by_what_uses_its_members() -> None:
    row = make_change(K.DEPRECATED, "up.a", ContractClass.MODULE)
    (entry,) = update_ledger(DeprecationLedger(), [merge(1, row)]).entries
    (used,) = find_uses([entry], ProfileIndex(make_profile(USES)))
    assert {use.name for use in used.uses} == {"up.a.run", "up.a.Gone"}
