from datetime import timedelta

import pytest

from bot.dates import Span
from bot.errors import DayUnavailable, GitHubUnavailable
from bot.features.merges.timeline import list_days, list_merges
from bot.platform.pulls.sources import DayMerges
from tests.helpers.builders import DAY, NOON, REPOSITORY, pull
from tests.helpers.doubles import KnownPulls

DAYS = timedelta(days=1)
SPAN = Span(DAY.date - 2 * DAYS, DAY.date, DAY.zone)
MIDDLE = f"day {DAY.date - DAYS}"
AWAY = DayUnavailable("The list of that day is away.", "away")
MERGED = (pull(3, merged_at=NOON), pull(2, merged_at=NOON - DAYS), pull(1, merged_at=NOON - 2 * DAYS))


def test_the_days_are_one_list_newest_first() -> None:
    pulls = KnownPulls(MERGED)
    merged = list_merges(pulls.list_merged, 2, REPOSITORY, SPAN)
    assert [each.number for each in merged.pulls] == [3, 2, 1]
    assert (merged.caveats, merged.unavailable) == ((), ())
    assert sorted(pulls.calls) == [f"day {day.date}" for day in SPAN.days]


def test_a_day_without_a_list_is_named_and_a_caveat() -> None:
    pulls = KnownPulls(MERGED, {MIDDLE: AWAY})
    merged = list_merges(pulls.list_merged, 2, REPOSITORY, SPAN)
    assert [each.number for each in merged.pulls] == [3, 1]
    assert (merged.caveats, merged.unavailable) == (("The list of that day is away",), (DAY.date - DAYS,))
    lists = list_days(pulls.list_merged, 2, REPOSITORY, SPAN.days)
    assert [isinstance(each, DayMerges) for each in lists] == [True, False, True]


@pytest.mark.parametrize(
    "error", [AWAY, GitHubUnavailable("GitHub does not answer.")], ids=["no list", "no answer"]
)
def test_without_any_list_the_error_is_raised(error: Exception) -> None:
    failing = {f"day {day.date}": error for day in SPAN.days}
    with pytest.raises(type(error), match=str(error)):
        list_merges(KnownPulls(MERGED, failing).list_merged, 2, REPOSITORY, SPAN)
