"""A real day as processes: its report is the published one to the byte, and its digest is whole."""

from pathlib import Path

import pytest
from redis import Redis

from tests.helpers.builders import needs_shared
from tests.helpers.data.golden_days import check_golden_day

pytestmark = [pytest.mark.slow, needs_shared]


def test_a_golden_day_is_reproduced_to_the_byte_and_posted_whole(
    store: Redis, store_url: str, tmp_path: Path
) -> None:
    check_golden_day("2026-02-28", store_url, tmp_path)
