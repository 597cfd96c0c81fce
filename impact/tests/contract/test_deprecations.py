"""What a repository has said that it will remove, and how far that is."""

import datetime as dt
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.contract.deprecations import (
    DeprecationLedger,
    DeprecationState,
    Release,
    build_releases,
    find_due_release,
    get_state,
    list_news,
    list_steps,
    parse_deadline_date,
    parse_version,
    update_ledger,
)
from impact.contract.models import ChangeKind, ContractChange, ContractClass, Deadline, MergeContract

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
S = DeprecationState


def change(kind: ChangeKind, name: str = "old_flag", when: str = "", replacement: str = "") -> ContractChange:
    deadline = Deadline(when, replacement) if when or replacement else None
    return ContractChange(ContractClass.FLAG, kind, name, "", "use new", "a.py", 3, deadline=deadline)


def merge_of(number: int, *changes: ContractChange, **fields: Any) -> MergeContract:
    """A merge; number 1 is of June 2, and each is a day later than the one before."""
    merge = MergeContract(number, f"{number:040x}", NOON + timedelta(days=number), "Title", changes)
    return replace(merge, **fields)


def release_of(name: str, day: int) -> Release:
    """A release of a number of days after the first of June."""
    (release,) = build_releases([(name, NOON + timedelta(days=day))])
    return release


ANNOUNCEMENT = merge_of(1, change(ChangeKind.DEPRECATED, when="v0.12", replacement="--new"))
REMOVAL = merge_of(40, change(ChangeKind.REMOVED))
RELEASES = (release_of("v0.10.2", 2), release_of("v0.11.0", 10), release_of("v0.12.0", 30))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v0.14", (0, 14, 0)),
        ("will be removed in v0.14.1 or later", (0, 14, 1)),
        ("0.13.0", (0, 13, 0)),
        ("1.0.0.0", (1, 0, 0)),
        ("v0.14.0rc1", None),
        ("v0.14.0.dev3", None),
        ("torch2.9", None),
        ("in 2026", None),
        ("the next release", None),
        ("", None),
        ("9" * 100_000, None),
        ("1." * 50_000, None),
    ],
)
def test_a_version_is_read_from_a_text(text: str, version: tuple[int, int, int] | None) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("text", "date"),
    [("on 2026-03-01", dt.date(2026, 3, 1)), ("2026-13-41", None), ("12026-03-01", None), ("", None)],
)
def test_a_date_is_read_from_a_text(text: str, date: dt.date | None) -> None:
    assert parse_deadline_date(text) == date


@pytest.mark.parametrize(
    ("deadline", "name"),
    [
        ((0, 12, 0), "v0.11.0"),
        ((0, 12, 3), "v0.11.0"),
        ((0, 11, 1), "v0.10.2"),
        ((0, 20, 0), None),
        ((1, 0, 0), None),
    ],
)
def test_the_release_before_a_deadline_is_that_of_the_version_before(
    deadline: tuple[int, int, int], name: str | None
) -> None:
    due = find_due_release(deadline, RELEASES)
    assert (due.name if due else None) == name


def test_a_deprecation_goes_through_its_states() -> None:
    ledger = update_ledger(DeprecationLedger(), [ANNOUNCEMENT])
    (entry,) = ledger.entries
    assert (entry.number, entry.when, entry.replacement, parse_version(entry.when)) == (
        1,
        "v0.12",
        "--new",
        (0, 12, 0),
    )
    days = {2: S.ANNOUNCED, 9: S.ANNOUNCED, 10: S.DUE, 29: S.DUE, 30: S.OVERDUE, 50: S.OVERDUE}
    assert {day: get_state(entry, RELEASES, NOON + timedelta(days=day)) for day in days} == days
    (gone,) = update_ledger(ledger, [REMOVAL]).entries
    assert (gone.removed_by, get_state(gone, RELEASES, NOON + timedelta(days=50))) == (40, S.REMOVED)
    assert [step.state for step in list_steps(gone, RELEASES)] == [S.ANNOUNCED, S.DUE, S.OVERDUE, S.REMOVED]


def test_what_goes_before_its_release_was_never_due() -> None:
    early = replace(REMOVAL, merged_at=NOON + timedelta(days=5))
    (gone,) = update_ledger(DeprecationLedger(), [ANNOUNCEMENT, early]).entries
    assert [step.state for step in list_steps(gone, RELEASES)] == [S.ANNOUNCED, S.REMOVED]


def test_news_are_the_steps_of_a_time() -> None:
    ledger = update_ledger(DeprecationLedger(), [ANNOUNCEMENT, REMOVAL])
    news = list_news(ledger, RELEASES, NOON + timedelta(days=10), NOON + timedelta(days=30))
    assert [(each.state, each.release and each.release.name) for each in news] == [(S.DUE, "v0.11.0")]
    later = list_news(ledger, RELEASES, NOON + timedelta(days=30), NOON + timedelta(days=99))
    assert [each.state for each in later] == [S.OVERDUE, S.REMOVED]


def test_a_deadline_by_date_is_due_a_month_before() -> None:
    row = change(ChangeKind.DEPRECATED, when="2025-12-24")
    (entry,) = update_ledger(DeprecationLedger(), [merge_of(1, row)]).entries
    steps = {step.state: step.at.date() for step in list_steps(entry, ())}
    assert steps == {
        S.ANNOUNCED: dt.date(2025, 6, 2),
        S.DUE: dt.date(2025, 11, 24),
        S.OVERDUE: dt.date(2025, 12, 24),
    }


def test_a_later_announcement_moves_the_deadline() -> None:
    later = merge_of(3, change(ChangeKind.DEPRECATED, when="v0.13"))
    (entry,) = update_ledger(DeprecationLedger(), [ANNOUNCEMENT, later]).entries
    assert (entry.number, entry.when, entry.replacement) == (1, "v0.13", "--new")


def test_reverts_take_back_announcements_and_removals() -> None:
    ledger = update_ledger(DeprecationLedger(), [ANNOUNCEMENT, REMOVAL])
    assert update_ledger(ledger, [], reverted={1}).entries == ()
    (entry,) = update_ledger(ledger, [], reverted={40}).entries
    assert (entry.removed_by, entry.removed_at) == (0, None)


def test_what_went_long_ago_is_forgotten() -> None:
    ledger = update_ledger(DeprecationLedger(), [ANNOUNCEMENT, REMOVAL])
    assert len(update_ledger(ledger, [merge_of(130)]).entries) == 1
    assert update_ledger(ledger, [merge_of(131)]).entries == ()


def test_a_name_that_stays_importable_is_not_removed() -> None:
    moved = replace(change(ChangeKind.MOVED), is_importable=True)
    (entry,) = update_ledger(DeprecationLedger(), [ANNOUNCEMENT, merge_of(2, moved)]).entries
    assert entry.removed_by == 0


MERGES = st.lists(
    st.builds(
        lambda number, rows: merge_of(number, *rows),
        st.integers(1, 60),
        st.lists(
            st.builds(
                change,
                st.sampled_from([ChangeKind.DEPRECATED, ChangeKind.REMOVED, ChangeKind.RENAMED]),
                st.sampled_from("ab"),
                st.sampled_from(["", "v0.12", "2025-07-01", "soon"]),
            ),
            max_size=2,
        ),
    ),
    max_size=8,
    unique_by=lambda merge: merge.number,
).map(lambda merges: sorted(merges, key=lambda merge: merge.number))


@given(MERGES, st.integers(0, 8))
def test_a_ledger_may_be_written_in_parts_and_twice(merges: list[MergeContract], at: int) -> None:
    whole = update_ledger(DeprecationLedger(), merges)
    assert update_ledger(update_ledger(DeprecationLedger(), merges[:at]), merges[at:]) == whole
    for entry in whole.entries:
        steps = list_steps(entry, RELEASES)
        assert [each.at for each in steps] == sorted(each.at for each in steps)
        assert steps[0].state is S.ANNOUNCED
