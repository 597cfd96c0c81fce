"""A small git repository in which half of the merges are reverted after three days, and reports on them."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

from impact.testing.clones import BEGIN, building, git
from tests.emulators.claude.server import review_answer, suspicion

# numbers of the merges: one of each two is reverted
BROKEN = (2, 4, 6, 8)
SOUND = (1, 3, 5, 7)
PAIRS = len(BROKEN)
DATES = ("--since=2025-01-01", "--until=2025-03-31", "--timezone=UTC")
_SUBJECT = re.compile(r"octo/engine #(\d+): ")


def make_paired_clone(folder: Path) -> Path:
    """Write the repository: a merge every second day, and two months of commits after the last one."""
    with building(folder) as builder:
        builder.commit("Begin", {"engine/batch.py": b"def split_all(batch):\n    return list(batch)\n"})
        for number in range(1, 9):
            at = BEGIN + timedelta(days=2 * number)
            text = "".join(f"row_{number}_{row} = split_all(rows[{row}])\n" for row in range(30 + number))
            builder.commit(
                f"Part {number} (#{number})\n\nThe author says why {number}.",
                {f"engine/part{number}.py": f"{make_quote(number)}\n{text}".encode()},
                at=at,
            )
        for number in BROKEN:
            at = BEGIN + timedelta(days=2 * number + 3, hours=1)
            message = f'Revert "Part {number}" (#{100 + number})\n\nReverts octo/engine#{number}'
            builder.commit(message, {f"engine/part{number}.py": None}, at=at)
        builder.commit("Much later (#200)", {"README.md": b"engine\n"}, at=BEGIN + timedelta(days=120))
    git(folder, "remote", "add", "origin", "https://github.com/octo/engine.git")
    return folder


def make_quote(number: int) -> str:
    return f"size_{number} = len(batch) // workers"


def find_number(text: str) -> int:
    match = _SUBJECT.search(text)
    assert match
    return int(match[1])


def report_bug(number: int, **fields: Any) -> dict[str, Any]:
    place = {"path": f"engine/part{number}.py", "quote": make_quote(number), "line": 1}
    return review_answer(
        suspicion(**{**place, "status": "confirmed", "certainty": "high", "advice": "adapt", **fields})
    )
