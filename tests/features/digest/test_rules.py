from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.features.digest.rules import Overview, ReaderAction
from bot.features.merges.risk import RISK_THRESHOLD, Risk
from bot.features.merges.summary import ChangeType
from bot.features.merges.view import Entry
from bot.platform.pulls.paths import OTHER_AREA, OTHER_PRODUCT_AREA
from tests.helpers.builders import NOON, digest, entry, summary

TRIVIAL = summary(type=ChangeType.TRIVIAL)


def at(number: int, area: str, **fields: Any) -> Entry:
    """An entry in an area; lower numbers are merged later."""
    made = entry(number, merged_at=NOON - timedelta(minutes=number))
    return replace(made, **{"area": area, **fields})


def make_entry(number: int, points: float) -> Entry:
    return replace(entry(number), risk=Risk(points, ("touches 2 product folders",)))


def reverting(number: int, other: int) -> Entry:
    return entry(number, title=f"Revert #{other}", merged_at=NOON + timedelta(hours=1))


def list_groups(*entries: Entry) -> list[tuple[str, list[int]]]:
    return [(label, [member.number for member in group]) for label, group in digest(*entries).group_entries()]


def test_areas_of_the_product_come_first_and_the_trivial_last() -> None:
    entries = [
        at(1, "Documentation"),
        at(2, "Models", summary=TRIVIAL),
        at(3, "LoRA"),
        at(4, "Models"),
        at(5, OTHER_AREA),
        at(6, "Models"),
    ]
    assert list_groups(*entries) == [
        ("Models", [4, 6]),
        ("LoRA", [3]),
        ("Documentation", [1]),
        (OTHER_AREA, [5]),
        ("Trivial", [2]),
    ]


def test_up_to_three_areas_of_one_keep_their_headings() -> None:
    assert list_groups(at(1, "A"), at(2, "B"), at(3, "C")) == [("A", [1]), ("B", [2]), ("C", [3])]


def test_more_areas_of_one_are_put_together_newest_first() -> None:
    entries = [at(1, "D"), at(2, "C"), at(3, "B"), at(4, "A"), at(5, "Big"), at(6, "Big"), at(7, "Documentation")]
    assert list_groups(*reversed(entries)) == [
        ("Big", [6, 5]),
        ("Other areas: A, B, C, D", [1, 2, 3, 4]),
        ("Documentation", [7]),
    ]


def test_a_day_without_merges_has_no_groups() -> None:
    assert digest().group_entries() == ()


AREAS = [
    "A",
    "B",
    "C",
    "D",
    "E",
    "F",
    "Trivial",
    OTHER_AREA,
    "Documentation",
    "CI and tests",
    "Dependencies and build",
]
spread = st.lists(st.tuples(st.sampled_from(AREAS), st.booleans()), max_size=20)


@given(spread)
def test_groups_hold_every_entry_exactly_once(rows: list[tuple[str, bool]]) -> None:
    entries = [
        at(number, area, summary=TRIVIAL if trivial else summary())
        for number, (area, trivial) in enumerate(rows, 1)
    ]
    held = [number for _, group in list_groups(*entries) for number in group]
    assert sorted(held) == list(range(1, len(entries) + 1))


@given(spread)
def test_no_group_is_empty_and_each_is_in_the_order_of_the_day(rows: list[tuple[str, bool]]) -> None:
    entries = [at(number, area) for number, (area, _) in enumerate(rows, 1)]
    for _, group in list_groups(*entries):
        assert group == sorted(group)
        assert group


def test_no_entry_is_lost_where_a_folder_is_named_like_a_heading() -> None:
    entries = [at(1, OTHER_PRODUCT_AREA), *(at(number, f"Area {number}") for number in range(2, 6))]
    assert sorted(number for _, group in list_groups(*entries) for number in group) == [1, 2, 3, 4, 5]


def test_what_is_taken_back_is_neither_risky_nor_an_action() -> None:
    asks = summary(action="Set the flag")
    entries = [reverting(9, 1), *(replace(make_entry(n, 20 - n), summary=asks) for n in (1, 2, 3, 4))]
    day_digest = digest(*entries)
    assert [entry.number for entry in day_digest.riskiest_entries] == [2, 3, 4]
    assert [action.number for action in day_digest.actions] == [2, 3, 4]


def test_what_landed_again_is_risky_again() -> None:
    first = replace(entry(1, title="T", merged_at=NOON), risk=Risk(20, ("adds 900 lines of product code",)))
    second = entry(2, title='Revert "T"', merged_at=NOON + timedelta(hours=1))
    third = entry(3, title='Revert "Revert "T""', merged_at=NOON + timedelta(hours=2))
    assert [entry.number for entry in digest(third, second, first).riskiest_entries] == [1]


def test_actions_are_those_that_a_summary_asks_for() -> None:
    day_digest = digest(
        entry(3, entry_summary=summary(action="Set the flag")),
        entry(2),
        entry(1, entry_summary=summary(action="Move")),
    )
    assert day_digest.actions == (ReaderAction("Set the flag", 3), ReaderAction("Move", 1))


@pytest.mark.parametrize(
    ("overview", "entries", "total"),
    [
        pytest.param(0.0, [], 0.0, id="no-entries"),
        pytest.param(0.25, [0.5, 0.125], 0.875, id="all-known"),
        pytest.param(None, [0.5], None, id="overview-unknown"),
        pytest.param(0.25, [0.5, None], None, id="one-entry-unknown"),
        pytest.param(0.0, [0.0, 0.0], 0.0, id="nothing-spent"),
    ],
)
def test_the_cost_is_known_where_every_part_of_it_is(
    overview: float | None, entries: list[float | None], total: float | None
) -> None:
    made = [replace(entry(number), cost=cost) for number, cost in enumerate(entries, 1)]
    assert digest(*made, overview=Overview("Calm.", cost=overview)).cost == total


@given(st.lists(st.floats(-10, 30), max_size=12))
@example([30.0] * 12)
def test_no_entry_that_is_listed_is_less_risky_than_one_that_is_not(points: list[float]) -> None:
    day_digest = digest(*(make_entry(number, score) for number, score in enumerate(points, 1)))
    expected = sorted((score for score in points if score >= RISK_THRESHOLD), reverse=True)[:3]
    assert [entry.risk.points for entry in day_digest.riskiest_entries] == expected
