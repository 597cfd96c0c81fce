import datetime as dt
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from evals.merges import NO_LABELS, LabelledOutcome, build_cases, label_outcomes
from impact.history.outcomes import Repair
from impact.history.reverts import Revert
from tests.helpers.builders import pull

ZONE = ZoneInfo("America/Los_Angeles")
NOON = datetime(2025, 3, 5, 20, 0, tzinfo=UTC)


def test_the_earliest_says_since_when_it_is_known() -> None:
    pulls = [pull(n, merged_at=NOON + timedelta(hours=n)) for n in range(1, 7)]
    outcomes = label_outcomes(pulls, [Revert(1, 5), Revert(1, 4), Revert(2, 6)], [Repair(1, 3), Repair(3, 4)])
    assert outcomes == {
        1: LabelledOutcome(frozenset({"R", "H"}), NOON + timedelta(hours=3), list_events(3, 4, 5)),
        2: LabelledOutcome(frozenset({"R", "H"}), NOON + timedelta(hours=6), list_events(6)),
        3: LabelledOutcome(frozenset({"H"}), NOON + timedelta(hours=4), list_events(4)),
    }


def list_events(*numbers: int) -> tuple[tuple[datetime, int], ...]:
    return tuple((NOON + timedelta(hours=number), number) for number in numbers)


@pytest.mark.parametrize(
    ("merged", "known_since", "day", "is_known"),
    [
        pytest.param("2025-03-05T20:00", "2025-03-06T16:59:59", "2025-03-05", True, id="before-nine"),
        pytest.param("2025-03-05T20:00", "2025-03-06T17:00", "2025-03-05", False, id="at-nine"),
        pytest.param("2025-03-05T07:59", "2025-03-05T16:59", "2025-03-04", True, id="the-day-is-local"),
        pytest.param("2025-03-05T08:00", "2025-03-06T16:59", "2025-03-05", True, id="first-of-a-day"),
        pytest.param("2025-03-08T20:00", "2025-03-09T15:59", "2025-03-08", True, id="clocks-change"),
        pytest.param("2025-03-08T20:00", "2025-03-09T16:00", "2025-03-08", False, id="clocks-changed"),
    ],
)
def test_known_is_what_happened_before_nine_on_the_next_day(
    merged: str, known_since: str, day: str, is_known: bool
) -> None:
    made = pull(1, merged_at=_utc(merged))
    (case,) = build_cases([made], {1: LabelledOutcome(frozenset({"R"}), _utc(known_since))}, ZONE)
    assert (case.day, case.is_known) == (dt.date.fromisoformat(day), is_known)
    assert case.labels == {"R"}


@pytest.mark.parametrize("outcomes", [{}, {1: NO_LABELS}, {1: LabelledOutcome(frozenset({"Y"}))}])
def test_what_has_no_time_is_not_known(outcomes: dict[int, LabelledOutcome]) -> None:
    (case,) = build_cases([pull(1, merged_at=NOON)], outcomes, ZONE)
    assert not case.is_known


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
