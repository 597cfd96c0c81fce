from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dates import Span
from bot.features.digest.rules import Digest, MultiDayDigest, Overview, select_entries
from bot.features.digest.view import compute_fingerprint
from bot.features.merges.requests import FULL_VIEW, OF_PROFILES, DigestView, ViewLevel
from bot.features.merges.review import BugReview
from bot.features.merges.risk import RISK_THRESHOLD, Risk
from bot.features.merges.summary import ChangeType, Fallback, FallbackReason
from bot.features.merges.view import Entry
from bot.platform.pulls.paths import Filters
from bot.platform.pulls.sources import CountCheck
from impact.history.reverts import Revert
from tests.helpers.builders import DAY, NOON, digest, entry, failed, finding, make_view, pairs, summary

TRIVIAL = summary(type=ChangeType.TRIVIAL)
RISKY = DigestView(only=ViewLevel.RISKY)
SUBSTANTIAL = DigestView(only=ViewLevel.SUBSTANTIAL)
BUSY = "the model is busy"
FAILED, NO_MODEL = failed(BUSY), Fallback(FallbackReason.NO_MODEL)


def make_entry(number: int, points: float = 0, *, trivial: bool = False, **fields: Any) -> Entry:
    made = entry(number, entry_summary=TRIVIAL if trivial else summary(), **fields)
    return replace(made, risk=Risk(points, ("touches 2 product folders",)))


def numbers(view: DigestView, entries: list[Entry], *reverts: Revert) -> list[int]:
    return [selected_entry.number for selected_entry in select_entries(view, entries, reverts)]


# --- what is shown

DAY_OF_ALL = [
    make_entry(5, RISK_THRESHOLD),
    make_entry(4, trivial=True),
    make_entry(3),
    make_entry(2, RISK_THRESHOLD - 0.001),
    make_entry(1, 20, trivial=True),
]


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        pytest.param(FULL_VIEW, [5, 4, 3, 2, 1], id="all"),
        pytest.param(SUBSTANTIAL, [5, 3, 2], id="substantial"),
        pytest.param(RISKY, [5, 1], id="risky"),
        pytest.param(DigestView(Filters(authors=("ada",))), [5, 4, 3, 2, 1], id="filters-are-for-reading"),
    ],
)
def test_what_weighs_enough_is_shown_newest_first(view: DigestView, shown: list[int]) -> None:
    assert numbers(view, DAY_OF_ALL) == shown


@pytest.mark.parametrize(
    ("reverts", "shown"),
    [
        pytest.param([], [5, 1], id="none"),
        pytest.param([Revert(3, 4)], [5, 4, 3, 1], id="both-halves-of-a-pair"),
        pytest.param([Revert(2, 3), Revert(3, 4)], [5, 4, 3, 2, 1], id="a-chain"),
        pytest.param([Revert(2, 99)], [5, 2, 1], id="one-half-that-is-not-of-the-day"),
    ],
)
def test_what_was_taken_back_is_shown_whatever_it_weighs(reverts: list[Revert], shown: list[int]) -> None:
    assert numbers(RISKY, DAY_OF_ALL, *reverts) == shown


def test_a_review_adds_to_a_view_of_risks_and_hides_nothing_of_it() -> None:
    confirmed, nothing = BugReview((finding(),)), BugReview()
    entries = [
        replace(make_entry(4, RISK_THRESHOLD), review=nothing),
        replace(make_entry(3, RISK_THRESHOLD - 1), review=nothing),
        replace(make_entry(2, 4), review=confirmed),
        replace(make_entry(1, -3.9), review=confirmed),
    ]
    assert numbers(RISKY, entries) == [4, 2, 1]


def test_what_could_not_be_read_may_be_risky() -> None:
    unread = replace(make_entry(3), pull=replace(make_entry(3).pull, files=None))
    assert numbers(RISKY, [make_entry(4), unread]) == [3]


weights = st.lists(st.tuples(st.floats(-6, 25), st.booleans()), max_size=12)


@given(
    weights, st.sampled_from(ViewLevel), st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)), max_size=3)
)
def test_views_keep_the_order_and_all_shows_all(
    weights: list[tuple[float, bool]], only: ViewLevel, pairs: list[tuple[int, int]]
) -> None:
    entries = [make_entry(n, points, trivial=trivial) for n, (points, trivial) in enumerate(weights, 1)]
    selected_numbers = numbers(make_view(only=only), entries, *(Revert(*pair) for pair in pairs))
    assert selected_numbers == sorted(selected_numbers)
    assert set(selected_numbers) >= {number for pair in pairs for number in pair if number <= len(entries)}
    assert only not in (ViewLevel.ALL, *OF_PROFILES) or len(selected_numbers) == len(entries)


def test_merged_counts_what_is_hidden_too() -> None:
    day_digest = digest(entry(2), entry(1), hidden=5, view=RISKY)
    assert (day_digest.merged_count, len(day_digest.entries), sorted(day_digest.numbers)) == (7, 2, [1, 2])


# --- what is missing


def facts_of(*missing: int, reason: Fallback = FAILED, of: int = 8) -> list[Entry]:
    summaries = {number: summary(fallback=reason) for number in missing}
    return [entry(number, entry_summary=summaries.get(number)) for number in range(of, 0, -1)]


WHERE = "the commits of main"


@pytest.mark.parametrize(
    ("day_digest", "gaps"),
    [
        pytest.param(digest(*facts_of()), [], id="complete"),
        pytest.param(digest(), [], id="nothing-merged"),
        pytest.param(
            digest(*facts_of(of=2), count=CountCheck(3, WHERE)),
            ["possibly incomplete: the commits of main show 3 merges, not 2"],
            id="the-count-is-another",
        ),
        pytest.param(
            digest(count=CountCheck(1, WHERE)),
            ["possibly incomplete: the commits of main show 1 merge, not 0"],
            id="an-empty-day-that-is-none",
        ),
        pytest.param(digest(*facts_of(of=2), count=CountCheck(None, WHERE)), [], id="no-count-to-be-had"),
        pytest.param(
            digest(*facts_of(of=2), count=CountCheck(5, WHERE), hidden=3, view=RISKY),
            [],
            id="what-is-hidden-counts",
        ),
        pytest.param(digest(*facts_of(4, 2)), [f"facts alone of #4, #2 ({BUSY})"], id="facts-alone"),
        pytest.param(
            digest(*facts_of(*range(1, 7))),
            [f"facts alone of #6, #5, #4, #3, #2, #1 ({BUSY})"],
            id="as-many-as-are-named",
        ),
        pytest.param(
            digest(*facts_of(*range(1, 9))),
            [f"facts alone of #8, #7, #6, #5, #4, #3 and 2 more ({BUSY})"],
            id="more-than-are-named",
        ),
        pytest.param(digest(*facts_of(1, 2, reason=NO_MODEL)), [], id="no-model-is-set-up"),
        pytest.param(
            digest(*facts_of(1, reason=Fallback(FallbackReason.NO_FILES))),
            ["facts alone of #1 (its files could not be loaded)"],
            id="files",
        ),
        pytest.param(
            digest(*facts_of(), overview=Overview("Most of it.", fallback=FAILED)),
            [f"no overview by the model ({BUSY})"],
            id="no-overview",
        ),
        pytest.param(
            digest(*facts_of(), overview=Overview("Most of it.", fallback=NO_MODEL)), [], id="no-model-for-it"
        ),
        pytest.param(
            digest(*facts_of(3), overview=Overview("", fallback=FAILED), count=CountCheck(9, WHERE)),
            [
                "possibly incomplete: the commits of main show 9 merges, not 8",
                f"facts alone of #3 ({BUSY})",
                f"no overview by the model ({BUSY})",
            ],
            id="all-of-it",
        ),
    ],
)
def test_what_is_missing_and_may_be_had_later_is_a_gap(day_digest: Digest, gaps: list[str]) -> None:
    assert list(day_digest.gaps) == gaps
    assert not any(gap.endswith(".") for gap in gaps)


def several(*days: Digest) -> MultiDayDigest:
    dated = [replace(each, day=replace(DAY, date=DAY.date + timedelta(days=n))) for n, each in enumerate(days)]
    return MultiDayDigest(Span(DAY.date, dated[-1].day.date, DAY.zone), tuple(dated))


def test_the_gaps_of_several_days_say_of_which() -> None:
    multi_day_digest = several(digest(*facts_of(2)), digest(), digest(count=CountCheck(1, WHERE)))
    assert multi_day_digest.gaps == (
        f"2026-02-28: facts alone of #2 ({BUSY})",
        "2026-03-02: possibly incomplete: the commits of main show 1 merge, not 0",
    )


def test_several_days_hide_what_each_of_them_hides() -> None:
    multi_day_digest = several(digest(entry(1), hidden=2, view=RISKY), digest(hidden=3, view=RISKY))
    assert (
        multi_day_digest.merged_count,
        multi_day_digest.combined.merged_count,
        multi_day_digest.combined.hidden,
        multi_day_digest.combined.view,
    ) == (6, 6, 5, RISKY)


def test_a_pair_over_two_days_is_one_in_a_view_too() -> None:
    first = replace(digest(entry(1), view=RISKY), hidden=1)
    second = digest(entry(2, title="Revert #1", merged_at=NOON + timedelta(days=1)), view=RISKY)
    multi_day_digest = several(first, second)
    assert pairs(multi_day_digest.combined.outcomes) == [(1, 2)]


# --- what tells the same


@pytest.mark.parametrize(
    "change",
    [
        {"count": CountCheck(3, WHERE)},
        {"hidden": 1},
        {"overview": Overview("Another.")},
        {"overview": Overview("A calm day.", fallback=FAILED)},
        {"entries": (entry(2), entry(1, entry_summary=summary(headline="Another")))},
    ],
    ids=str,
)
def test_all_else_tells_something(change: dict[str, Any]) -> None:
    day_digest = digest(entry(2), entry(1))
    assert compute_fingerprint(replace(day_digest, **change)) != compute_fingerprint(day_digest)
