"""A made-up day for trials: its records, its public report, and its verdicts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.emulators.github.store import changed_file, instant, sha
from tests.helpers.builders import NOON

DATE = "2026-02-28"
NUMBERS = (101, 102, 103)
# one stands in the middle of a file, so that whole files show more than its patch
PATCH = "@@ -1,2 +1,3 @@\n class Retry:\n     limit = 0\n+    retries = {0}  # {0} » “ü”\n"
SOURCE = (
    "class Retry:\n    limit = 0\n    retries = {0}  # {0} » “ü”\n"
    "\n    def count(self):\n        return self.limit\n"
)

GOLDEN_ENTRY = """## {place}. [[Core] Count retries {number}](https://github.com/octo/engine/pull/{number})


### Base Information

- **PR Number:** #{number}
- **Author:** [ada](https://github.com/ada)
- **Type:** `SUBSTANTIAL`
- **[Changed Files](https://github.com/octo/engine/pull/{number}/files) (1):**
  - `engine/retry_{number}.py`

### Summary

**What changed and why**
This PR counts the retries of `engine/retry_{number}.py`, **all** of them.

**Technical impact**
Retries of public report {number} are bounded.

**Potential risks**
- Callers of public report {number} that wait may fail
- Slower start.

**Key insights**
See [the guide](https://docs.example.com/{number}) of public report {number}.

---

""".replace("**\n", "**  \n")


@dataclass(frozen=True)
class TrialDay:
    records: Path
    golden: Path

    @property
    def collect_options(self) -> tuple[str, ...]:
        return (f"--records={self.records}", "--repo=octo/engine", "--sample=2")

    @property
    def pair_options(self) -> tuple[str, ...]:
        return (f"--records={self.records}", f"--golden={self.golden}")


def write_day(folder: Path) -> TrialDay:
    """Three pull requests of octo/engine with a description and a label."""
    day = TrialDay(folder / "replay", folder / "golden")
    facts = [_describe_pull(number) for number in NUMBERS]
    write(day.records / DATE / "pulls.json", {"repository": "octo/engine", "date": DATE, "pulls": facts})
    for number in NUMBERS:
        write(day.records / DATE / "files" / f"{number}.json", [file_of(number)])
    entries = "".join(GOLDEN_ENTRY.format(place=place, number=number) for place, number in enumerate(NUMBERS, 1))
    day.golden.mkdir()
    (day.golden / f"{DATE}.md").write_text(f"# Engine Merged PR Report\n\n---\n\n{entries}")
    return day


def _describe_pull(number: int) -> dict[str, Any]:
    return {
        "number": number,
        "title": f"[Core] Count  retries {number}",
        "body": f"Retries were lost.\r\n\r\n<!-- hidden -->\nSee #{number}.",
        "author": "ada",
        "merged_by": "merge-bot[bot]",
        "merged_at": instant(NOON + timedelta(minutes=number)),
        "merge_commit_sha": sha(f"merge {number}"),
        "base_sha": sha("base"),
        "head_sha": sha(f"head {number}"),
        "additions": 1,
        "deletions": 0,
        "changed_files": 1,
        "labels": ["bug", "core"],
    }


def file_of(number: int) -> dict[str, Any]:
    return changed_file(f"engine/retry_{number}.py", patch=PATCH.format(number))


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def write_verdict(trial: Path, number: int, preferred: str, quotes: Mapping[str, str] = {}) -> None:
    """A verdict that prefers ``ours`` or ``theirs``, with one false statement of each side that is quoted."""
    first = read(trial / "key.json")["first"][str(number)]
    letters = {first: "A", "theirs" if first == "ours" else "ours": "B"}
    statements: dict[str, list[dict[str, str]]] = {"A": [], "B": []}
    for side, quote in quotes.items():
        statement = {"quote": quote, "kind": "false", "why": "The limit is another.", "where": "engine/retry.py:3"}
        statements[letters[side]].append(statement)
    verdict = {"number": number, **statements, "preferred": letters[preferred], "reason": "It names the limit."}
    write(trial / "verdicts" / f"{number}.json", verdict)
