import datetime as dt
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from impact.evaluation.window import EvaluationWindow

WINDOW = EvaluationWindow(dt.date(2025, 3, 1), dt.date(2025, 3, 2))


@pytest.mark.parametrize(
    ("merged", "is_in"),
    [
        ("2025-02-28T23:59:59", False),
        ("2025-03-01T00:00", True),
        ("2025-03-02T23:59:59", True),
        ("2025-03-03T00:00", False),
    ],
)
def test_a_window_is_of_dates_in_utc(merged: str, is_in: bool) -> None:
    at = datetime.fromisoformat(merged).replace(tzinfo=UTC)
    assert (at in WINDOW) is is_in
    assert (at.astimezone(ZoneInfo("America/Los_Angeles")) in WINDOW) is is_in
    assert WINDOW.start == datetime(2025, 3, 1, tzinfo=UTC)
