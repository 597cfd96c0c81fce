import tracemalloc

import pytest

from bot.features.summaries.reading import read_pull_request
from bot.platform.cleaning import parse_file, parse_files
from tests.helpers.apps import make_reading_app
from tests.helpers.builders import pull
from tests.platform.github.test_cleaning import MEGABYTE, item

pytestmark = pytest.mark.slow


def test_of_many_large_ones_only_so_many_are_kept() -> None:
    kept = list(parse_files([item(999, "+" + "x" * 500)] * 44))
    sizes = [len(file.patch or "") for file in kept]
    assert sum(sizes) <= 20 * MEGABYTE < len(kept) * sizes[0]


def test_very_many_lines_take_little_memory() -> None:
    # as a list they would be thirty megabytes
    sent = item(400_000)
    tracemalloc.start()
    try:
        file = parse_file(sent)
        read, _ = tracemalloc.get_traced_memory()
        read_pull_request(make_reading_app(None, None), pull(files=[file]))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert read < 1 * MEGABYTE
    assert peak < 20 * MEGABYTE
