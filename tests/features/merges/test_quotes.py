from typing import Any

import pytest

from bot.features.merges.review import locate_finding
from bot.features.merges.summary import Quote
from bot.platform.pulls.diff import list_quote_positions
from bot.platform.pulls.models import ChangedFile
from bot.platform.source.excerpts import mark_lines, split_excerpt
from impact.source.models import DiffSide, SourceFile
from tests.helpers.builders import pull

PATCH = """@@ -2,4 +2,4 @@
 retries = count_retries(options)
-worker.join(timeout=10)
+worker.join(timeout=30)
 close_worker(worker)
@@ -20,2 +20,3 @@
+retries = count_retries(options)
 worker.join(timeout=60)"""
# two lines were added above the hunks by another pull request
TEXT = "import os\nimport sys\n\n" + "\n".join(
    [
        "retries = count_retries(options)",
        "worker.join(timeout=30)",
        "close_worker(worker)",
        *(f"line_{n} = {n}" for n in range(15)),
        "retries = count_retries(options)",
        "worker.join(timeout=60)",
        "retries = count_retries(defaults)",
    ]
)
PATH = "engine/run.py"
CHANGE = ChangedFile(PATH, "modified", 2, 1, PATCH)
SEVEN = pull(7, files=(CHANGE,))
WHOLE = mark_lines(SourceFile(PATH, TEXT), CHANGE)


def locate(text: str, lines: range | None = None, **place: Any) -> tuple[str, int] | None:
    """The side and line of a quote, where some lines of the file were shown."""
    quote = Quote(**{"path": PATH, "quote": text, **place})
    location = locate_finding(quote, SEVEN, split_excerpt(WHOLE, lines or ()))
    return (location.side.value, location.line) if location else None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "place", "in_diff", "in_file"),
    [
        ("worker.join(timeout=30)", {}, ("new", 3), ("new", 5)),
        ("+worker.join(timeout=30)", {}, ("new", 3), ("new", 5)),
        ("worker.join(timeout=30)", {"line": 77}, ("new", 3), ("new", 5)),
        ("worker.join(timeout=10)", {"side": DiffSide.OLD}, ("old", 3), ("old", 3)),
        ("worker.join(timeout=10)", {}, ("old", 3), ("old", 3)),
        ("worker.join(timeout=30)", {"side": DiffSide.OLD}, ("new", 3), ("new", 3)),
        ("retries = count_retries(options)", {}, None, None),
        ("retries = count_retries(options)", {"line": 20}, ("new", 20), None),
        ("retries = count_retries(options)", {"line": 4}, None, ("new", 4)),
        ("retries = count_retries(defaults)", {}, None, ("new", 24)),
        ("close_worker(", {"path": "other.py"}, None, None),
        ("return 1", {}, None, None),
        ("", {}, None, None),
        ("x" * 100_000, {}, None, None),
    ],
    ids=str,
)
def test_a_quote_has_one_place(
    text: str, place: dict[str, Any], in_diff: tuple[str, int] | None, in_file: tuple[str, int] | None
) -> None:
    assert locate(text, **place) == in_diff
    assert locate(text, range(1, len(WHOLE.lines) + 1), **place) == in_file


def test_only_lines_that_were_shown_count() -> None:
    assert locate("retries = count_retries(options)", range(4, 7)) == ("new", 4)
    assert locate("retries = count_retries(defaults)", range(1, 20)) is None


def test_an_unchanged_line_is_no_position_of_the_old_side() -> None:
    (only,) = list_quote_positions(PATCH, "close_worker(worker)")
    assert (only.side, only.is_change) == (DiffSide.NEW, False)
