"""How much memory a patch of a million lines takes, from GitHub's answer to the text for a model."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import TypeVar

from benchmarks.table import Table
from bot.platform.cleaning import parse_file
from bot.platform.models.packing import pack_diff

T = TypeVar("T")

LINES = 1_000_000
# the default of PRDIGEST_DIFF_TOKENS
BUDGET = 30_000
# at most 500,000 characters of a file are stored
MAX_KEPT, MAX_PACKING = 1.0, 20.0
_MEGABYTE = 1_000_000


def measure_a_large_patch(table: Table) -> None:
    """Measure the memory of the stored file and the peak while it is packed, in megabytes."""
    lines = "\n".join(f"+line {number}" for number in range(LINES))
    patch = f"@@ -0,0 +1,{LINES} @@\n{lines}"
    sent = {"filename": "engine/core.py", "status": "added", "additions": LINES, "patch": patch}
    file, kept, _ = _trace_memory(lambda: parse_file(sent))
    _, _, peak = _trace_memory(lambda: pack_diff([file], BUDGET, 1))
    print(f"a patch of {LINES:,} lines: {len(patch) / _MEGABYTE:.1f} MB sent")
    table.print_row("memory that is kept of it", kept, MAX_KEPT, "MB")
    table.print_row("peak of memory while it is packed for a model", peak, MAX_PACKING, "MB")


def _trace_memory(work: Callable[[], T]) -> tuple[T, float, float]:
    """Return the result of the work, the memory that it keeps and its peak, in megabytes."""
    tracemalloc.start()
    try:
        result = work()
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return result, left / _MEGABYTE, peak / _MEGABYTE
