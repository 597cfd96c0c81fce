from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.features.digest.lead import format_coverage
from bot.features.digest.rules import Digest, Overview
from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.merges.review import ReviewCoverage
from bot.features.merges.summary import ChangeType, Fallback
from bot.features.merges.view import Entry
from bot.platform.models.packing import Coverage
from bot.platform.pulls.paths import Filters
from bot.platform.pulls.sources import CountCheck
from bot.usage import BudgetRefusal
from tests.helpers.builders import digest, entry, failed, summary
from tests.helpers.tables import check_rows

WHERE = "the commits of main"

DAY_NEARLY_USED, DAY_USED = Fallback(BudgetRefusal.DAY_NEARLY_USED), Fallback(BudgetRefusal.DAY_USED)
MONTH_NEARLY_USED, MONTH_USED = Fallback(BudgetRefusal.MONTH_NEARLY_USED), Fallback(BudgetRefusal.MONTH_USED)


def format_line(day_digest: Digest) -> str:
    return format_coverage(day_digest, day_digest.coverage)


def make_entry(number: int = 1, *, cached: bool = False, cost: float | None = 0.0, **summary_fields: Any) -> Entry:
    return replace(entry(number, entry_summary=summary(**summary_fields)), from_cache=cached, cost=cost)


def several(count: int, **summary_fields: Any) -> list[Entry]:
    return [make_entry(number, **summary_fields) for number in range(count, 0, -1)]


CLIPPED: dict[str, Any] = {"coverage": Coverage.CLIPPED}
NONE: dict[str, Any] = {"coverage": Coverage.NONE}
AWAY: dict[str, Any] = {"fallback": failed()}
# what is missing comes before any count
LINES: dict[str, tuple[list[Entry], str]] = {
    "one": ([make_entry()], "Read in full"),
    "trivial": ([make_entry(2, type=ChangeType.TRIVIAL), make_entry()], "All 2 read in full"),
    "cached": ([make_entry(2, cached=True), make_entry()], "All 2 read in full"),
    "clipped and none": (
        [make_entry(3, **CLIPPED), make_entry(2, **NONE), make_entry()],
        "not from full diffs: #3, #2",
    ),
    "more clipped than are named": (
        several(7, **CLIPPED),
        "not from full diffs: #7, #6, #5, #4, #3, #2 and 1 more",
    ),
    "as many clipped as are named": (
        several(6, **CLIPPED),
        "not from full diffs: #6, #5, #4, #3, #2, #1",
    ),
    "fallbacks": ([make_entry(3), make_entry(2, **AWAY), make_entry(1, **AWAY)], "facts only: #2, #1"),
    "nothing read": (several(3, **AWAY), "facts only: #3, #2, #1"),
    "fallbacks for want of money": (
        [
            make_entry(4),
            make_entry(3, fallback=DAY_NEARLY_USED),
            make_entry(2, **AWAY),
            make_entry(1, fallback=DAY_NEARLY_USED),
        ],
        "facts only: #2 · facts only because today's model budget is nearly used up: #3, #1",
    ),
    "fallbacks for want of money of the month": (
        [make_entry(3), make_entry(2, fallback=MONTH_NEARLY_USED), make_entry(1, fallback=MONTH_USED)],
        (
            "facts only because this month's model budget is nearly used up: #2 · facts only because this month's "
            "model budget is used up: #1"
        ),
    ),
}


@check_rows(LINES)
def test_the_line_says_what_was_read(entries: list[Entry], line: str) -> None:
    assert format_line(digest(*entries)) == line


@check_rows(
    {
        "none to read": (ReviewCoverage(), "Read in full"),
        "all": (ReviewCoverage(8, 8), "Read in full · AI bug review: 8 of 8"),
        "stopped": (ReviewCoverage(1_200, 1_000, "today's limit is used up"), "Read in full"),
    }
)
def test_the_line_counts_the_reviews_where_none_is_missing(coverage: ReviewCoverage, line: str) -> None:
    assert format_line(digest(make_entry(), review_coverage=coverage)) == line


def test_the_cost_of_reviews_counts() -> None:
    day_digest = digest(make_entry(cost=0.5), review_coverage=ReviewCoverage(1, 1, "", 0.75))
    assert format_line(day_digest).endswith(" · $1.25")


@pytest.mark.parametrize(
    ("overview", "entries", "cost_text"),
    [
        pytest.param(0.0, [0.0], "Read in full", id="nothing"),
        pytest.param(0.0, [0.004], "under $0.01", id="less-than-a-cent"),
        pytest.param(0.0, [0.005], "$0.01", id="a-cent"),
        pytest.param(0.25, [1.0, 0.5], "$1.75", id="all-together"),
        pytest.param(1_234.5, [0.0], "$1234.50", id="much"),
        pytest.param(None, [1.0], "cost unknown", id="overview-unknown"),
        pytest.param(0.25, [1.0, None], "cost unknown", id="entry-unknown"),
    ],
)
def test_the_line_says_what_the_run_cost(
    overview: float | None, entries: list[float | None], cost_text: str
) -> None:
    day_digest = digest(
        *(make_entry(number, cost=cost) for number, cost in enumerate(entries, 1)),
        overview=Overview("", cost=overview),
    )
    assert format_line(day_digest).split(" · ")[-1] == cost_text


@pytest.mark.parametrize(
    ("counted", "merges", "difference"),
    [
        pytest.param(2, 2, "", id="equal"),
        pytest.param(0, 0, "", id="none-and-none"),
        pytest.param(3, 2, "possibly incomplete: the commits of main show 3 merges, not 2", id="more"),
        pytest.param(1, 2, "possibly incomplete: the commits of main show 1 merge, not 2", id="fewer"),
        pytest.param(
            1, 0, ("possibly incomplete: the commits of main show 1 merge, not 0"), id="a-day-without-merges"
        ),
        pytest.param(None, 2, "count not checked: the commits of main gave no count", id="not-counted"),
        pytest.param(None, 0, "count not checked: the commits of main gave no count", id="not-counted-none"),
    ],
)
def test_a_count_that_differs_or_is_missing_is_admitted(counted: int | None, merges: int, difference: str) -> None:
    day_digest = digest(*several(merges), count=CountCheck(counted, WHERE))
    assert day_digest.count_caveats == difference
    assert difference in format_line(day_digest)


@pytest.mark.parametrize(
    ("view", "shown", "hidden", "prefix"),
    [
        pytest.param(
            DigestView(only=ViewLevel.RISKY), 1, 17, "1 of 18 shown: only:risky · Read in full", id="risky"
        ),
        pytest.param(
            DigestView(only=ViewLevel.RISKY), 0, 1_800, "0 of 1,800 shown: only:risky", id="nothing-shown"
        ),
        pytest.param(DigestView(only=ViewLevel.RISKY), 0, 0, "", id="nothing-merged"),
        pytest.param(
            DigestView(Filters(paths=("vllm/v1",), not_authors=("bots",)), ViewLevel.SUBSTANTIAL),
            2,
            0,
            "2 of 2 shown: path:vllm/v1 not-author:bots only:substantial · All 2 read in full",
            id="all-the-words",
        ),
    ],
)
def test_a_view_says_how_much_it_leaves_out_and_by_which_words(
    view: DigestView, shown: int, hidden: int, prefix: str
) -> None:
    day_digest = digest(*several(shown), view=view, hidden=hidden, count=CountCheck(shown + hidden, WHERE))
    assert format_line(day_digest).startswith(prefix)
    assert bool(prefix) == bool(format_line(day_digest))


def test_a_view_counts_what_it_hides_against_the_count_of_others() -> None:
    day_digest = digest(*several(1), view=DigestView(only=ViewLevel.RISKY), hidden=2, count=CountCheck(4, WHERE))
    assert day_digest.count_caveats == "possibly incomplete: the commits of main show 4 merges, not 3"


def test_a_day_without_merges_that_is_counted_needs_no_line() -> None:
    assert format_line(digest()) == ""


def test_an_overview_that_was_saved_is_named() -> None:
    saved = digest(make_entry(), overview=Overview("", fallback=DAY_USED))
    assert "no overview because today's model budget is used up" in format_line(saved)
    assert "no overview" not in format_line(
        digest(make_entry(), overview=Overview("", fallback=failed("the model is busy")))
    )
