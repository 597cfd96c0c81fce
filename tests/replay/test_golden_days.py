"""The other real days, the smallest and the largest, like the one of `tests/cli/test_golden.py`."""

from pathlib import Path

import pytest
from redis import Redis

from tests.helpers.builders import needs_shared
from tests.helpers.data.golden_days import check_golden_day

pytestmark = [pytest.mark.slow, needs_shared]


@pytest.mark.parametrize("date", ["2026-02-22", "2026-02-24"])
def test_a_golden_day_is_reproduced_to_the_byte_and_posted_whole(
    date: str, store: Redis, store_url: str, tmp_path: Path
) -> None:
    check_golden_day(date, store_url, tmp_path)
