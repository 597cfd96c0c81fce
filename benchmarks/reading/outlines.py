"""How long a Python file takes to read, and how that grows with its length."""

from __future__ import annotations

import sysconfig
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.table import Table
from impact.contract.models import FileVersions, MergeContract
from impact.contract.python.python_changes import compare_python
from impact.python.outline import build_outline
from impact.source.models import SourceFile

# the issue that asks for contract changes: 10,000 files a minute on one core
MAX_FILE = 60_000 / 10_000
FILES = 600
LINES = 500
# ten times the text may take so many times the time: it is linear, and the processor's caches are not
MAX_GROWTH = 20.0


def time_outlines(table: Table) -> None:
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in _list_files()]
    begin = time.process_time()
    read = sum(build_outline("package/module.py", text) is not None for text in texts)
    spent = 1_000 * (time.process_time() - begin) / len(texts)
    size = sum(map(len, texts)) / len(texts) / 1_000
    print(f"{len(texts)} Python files of {size:.1f} KB, {read} of them can be parsed")
    table.print_row("the outline of a Python file", spent, MAX_FILE, "ms")
    growth = _time_comparison(10 * LINES) / _time_comparison(LINES)
    table.print_row("a comparison of ten times as many functions", growth, MAX_GROWTH, "times")


def _list_files() -> list[Path]:
    paths = sorted(Path(sysconfig.get_paths()["purelib"]).rglob("*.py"))
    return paths[:: max(1, len(paths) // FILES)]


def _time_comparison(lines: int) -> float:
    """Return the seconds that a file takes in which each function has another parameter."""
    versions = [
        FileVersions(
            SourceFile("package/module.py", "\n".join(f"def f{number}(a): return a" for number in range(lines))),
            SourceFile(
                "package/module.py", "\n".join(f"def f{number}(a, b): return b" for number in range(lines))
            ),
        )
    ]
    begin = time.process_time()
    merge = MergeContract(1, "0" * 40, datetime(2026, 1, 1, tzinfo=UTC))
    changes = compare_python(merge, versions, lambda _: None).changes
    assert len(changes) == lines
    return time.process_time() - begin
