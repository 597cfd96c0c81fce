from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dates import LocalDay, Span
from bot.features.digest.rules import Digest, MultiDayDigest, Overview, ReaderAction
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.review import NO_REVIEWS, ReviewCoverage
from bot.features.merges.view import Entry
from impact.history.outcomes import OutcomeKind
from tests.helpers.builders import DAY, NOON, digest, entry, pairs, summary

CALM = Overview("A calm day.")


def at(day: int, number: int, points: float = 0, **fields: Any) -> Entry:
    """An entry merged so many days after DAY; higher numbers are merged later."""
    made = entry(number, merged_at=NOON + timedelta(days=day, minutes=number), **fields)
    return replace(made, risk=replace(made.risk, points=points, reasons=("touches 2 product folders",)))


def caught_up(*days: Digest) -> MultiDayDigest:
    """Each digest is of the day after the one before it."""
    dated = tuple(
        replace(day_digest, day=LocalDay(DAY.date + timedelta(days=n), DAY.zone))
        for n, day_digest in enumerate(days)
    )
    return MultiDayDigest(Span(DAY.date, dated[-1].day.date, DAY.zone), dated)


def numbers(multi_day_digest: MultiDayDigest) -> list[int]:
    return [entry.number for entry in multi_day_digest.combined.entries]


def test_all_days_are_one_newest_first() -> None:
    multi_day_digest = caught_up(digest(at(0, 2), at(0, 1)), digest(), digest(at(2, 4), at(2, 3)))
    assert numbers(multi_day_digest) == [4, 3, 2, 1]
    assert multi_day_digest.merged_count == 4


def test_the_whole_is_called_as_its_days_and_dated_as_the_last() -> None:
    multi_day_digest = caught_up(digest(at(0, 1)), digest(at(1, 2)))
    assert (multi_day_digest.name, multi_day_digest.combined.name, multi_day_digest.combined.repository) == (
        "Engine",
        "Engine",
        multi_day_digest.digests[0].repository,
    )
    assert multi_day_digest.combined.day == multi_day_digest.digests[-1].day


def test_reviews_of_all_days_are_counted_and_the_newest_stop_is_said() -> None:
    coverages = (ReviewCoverage(3, 2, "it was late", 0.25), ReviewCoverage(4, 1, "it was dear", 0.5), NO_REVIEWS)
    multi_day_digest = caught_up(*(digest(at(n, n + 1), review_coverage=each) for n, each in enumerate(coverages)))
    assert multi_day_digest.combined.review_coverage == ReviewCoverage(7, 3, "it was dear", 0.75)
    unknown = caught_up(*(digest(review_coverage=replace(each, cost=None)) for each in coverages))
    assert unknown.combined.review_coverage.cost is None


def test_one_day_is_that_day() -> None:
    only = digest(at(0, 2, 11), at(0, 1))
    whole = caught_up(only).combined
    assert (whole.entries, whole.day, whole.outcomes, whole.count) == (only.entries, only.day, (), only.count)


def test_days_without_merges_are_a_whole_without_merges() -> None:
    multi_day_digest = caught_up(digest(), digest())
    assert (
        multi_day_digest.merged_count,
        numbers(multi_day_digest),
        multi_day_digest.combined.riskiest_entries,
    ) == (0, [], ())


def test_what_was_taken_back_on_a_later_day_is_neither_risky_nor_an_action() -> None:
    asks = summary(action="Set the flag")
    first = digest(at(0, 2, 20, entry_summary=asks), at(0, 1, 15, entry_summary=asks))
    second = digest(at(1, 3, -6, title="Revert #2"))
    multi_day_digest = caught_up(first, second)
    assert pairs(multi_day_digest.combined.outcomes) == [(2, 3)]
    assert [entry.number for entry in multi_day_digest.combined.riskiest_entries] == [1]
    assert multi_day_digest.combined.actions == (ReaderAction("Set the flag", 1),)


def test_of_what_two_days_know_the_whole_description_counts() -> None:
    fix = at(1, 3, title="Fix the queue", body=f"{'Long. ' * 300} Fixes a regression introduced by #1.")
    brief = replace(fix.pull, body="Long.")
    again = at(2, 4, title="Fix the fix", body="Fixes a regression introduced by #3.")
    later = replace(digest(again), outcomes=(MergeOutcome(brief, again.pull, OutcomeKind.REPAIRED),))
    multi_day_digest = caught_up(digest(at(0, 1)), digest(fix), later)
    assert sorted(pairs(multi_day_digest.combined.outcomes)) == [(1, 3), (3, 4)]


def test_what_landed_again_on_a_third_day_is_risky_again() -> None:
    first = digest(at(0, 1, 20, title="T"))
    second = digest(at(1, 2, -6, title='Revert "T"'))
    third = digest(at(2, 3, -6, title='Revert "Revert "T""'))
    assert caught_up(first, second).combined.riskiest_entries == ()
    assert [entry.number for entry in caught_up(first, second, third).combined.riskiest_entries] == [1]


def test_a_revert_of_what_was_merged_on_an_earlier_of_the_days_is_no_older_revert() -> None:
    revert = digest(at(1, 2, title="Revert #1"))
    assert [entry.number for entry in caught_up(digest(), revert).combined.older_reverts] == [2]
    assert caught_up(digest(at(0, 1)), revert).combined.older_reverts == ()


def test_the_riskiest_of_all_days_are_the_riskiest() -> None:
    days = [digest(at(0, 2, 11), at(0, 1, 20)), digest(at(1, 4, 15), at(1, 3, 12))]
    assert [entry.number for entry in caught_up(*days).combined.riskiest_entries] == [1, 4, 3]


@pytest.mark.parametrize(
    ("overviews", "entries", "total"),
    [
        pytest.param([0.25, 0.5], [1.0, 2.0], 3.75, id="all-known"),
        pytest.param([0.0, 0.0], [0.0, 0.0], 0.0, id="nothing-spent"),
        pytest.param([None, 0.5], [1.0, 2.0], None, id="an-overview-unknown"),
        pytest.param([0.25, 0.5], [1.0, None], None, id="an-entry-unknown"),
    ],
)
def test_the_cost_is_that_of_all_days_where_every_part_is_known(
    overviews: list[float | None], entries: list[float | None], total: float | None
) -> None:
    days = [
        digest(replace(at(day, day + 1), cost=cost), overview=replace(CALM, cost=overview))
        for day, (overview, cost) in enumerate(zip(overviews, entries, strict=True))
    ]
    assert caught_up(*days).combined.cost == total


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_the_whole_holds_every_entry_once_newest_first(sizes: list[int]) -> None:
    days = [digest(*(at(day, 100 * day + n) for n in range(size, 0, -1))) for day, size in enumerate(sizes)]
    multi_day_digest = caught_up(*days)
    times = [entry.pull.merge_time for entry in multi_day_digest.combined.entries]
    assert times == sorted(times, reverse=True)
    assert len(multi_day_digest.combined.numbers) == multi_day_digest.merged_count == sum(sizes)
    assert (
        sum(len(group) for _, group in multi_day_digest.combined.group_entries()) == multi_day_digest.merged_count
    )
