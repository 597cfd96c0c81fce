"""What a review does to the rank: it moves a pull request in lists, and leaves its points and band."""

from dataclasses import replace

from bot.features.merges.review import (
    BugFinding,
    BugReview,
    Certainty,
    FindingStatus,
    ReviewVerdict,
    compute_rank,
    is_worth_listing,
    rank_reviewed,
    select_riskiest,
)
from bot.features.merges.risk import Risk
from bot.features.merges.view import Entry
from tests.helpers.builders import entry, finding
from tests.helpers.tables import check_rows

POSSIBLE = finding("It may stall", status=FindingStatus.POSSIBLE)
CONFIRMED = finding("It stops")
REPAIRED = finding("It is slow", repaired_by=9)
UNSURE = finding("It leaks", certainty=Certainty.LOW)
NOTHING = BugReview()


def make_entry(
    number: int, points: float, review: BugReview | None = None, *, may_be_listed: bool = True
) -> Entry:
    return replace(entry(number), risk=Risk(points, (), may_be_listed=may_be_listed), review=review)


@check_rows(
    {
        "nothing": ((), ReviewVerdict.NOTHING, None),
        "repaired since": ((REPAIRED,), ReviewVerdict.NOTHING, None),
        "possible": ((REPAIRED, POSSIBLE), ReviewVerdict.POSSIBLE, POSSIBLE),
        "confirmed": ((POSSIBLE, REPAIRED, CONFIRMED), ReviewVerdict.CONFIRMED, CONFIRMED),
        "the most certain": ((UNSURE, CONFIRMED), ReviewVerdict.CONFIRMED, CONFIRMED),
        "the first of a kind": ((POSSIBLE, replace(POSSIBLE, consequence="B")), ReviewVerdict.POSSIBLE, POSSIBLE),
    }
)
def test_the_strongest_finding_decides_the_verdict(
    findings: tuple[BugFinding, ...], verdict: ReviewVerdict, first: BugFinding | None
) -> None:
    review = BugReview(findings)
    assert (review.verdict, review.strongest_finding) == (verdict, first)


def test_findings_are_ranked_in_their_order_within_a_kind() -> None:
    other = replace(POSSIBLE, consequence="It may leak")
    ranked = BugReview((REPAIRED, POSSIBLE, UNSURE, CONFIRMED, other)).ranked_findings
    assert ranked == (CONFIRMED, UNSURE, POSSIBLE, other, REPAIRED)


@check_rows(
    {
        "not reviewed": (12, None, 12, True),
        "below": (11.9, None, 11.9, False),
        "lowest of the middle band, confirmed": (4, BugReview((CONFIRMED,)), 12, True),
        "lowest of all, confirmed": (-5, BugReview((CONFIRMED,)), 12, True),
        "lowest of all, possible": (-5, BugReview((POSSIBLE,)), -2, False),
        "possible": (9, BugReview((POSSIBLE,)), 12, True),
        "high band, nothing": (15.9, NOTHING, 11.9, False),
        "highest band, nothing": (16, NOTHING, 12, True),
    }
)
def test_a_review_moves_the_rank(points: float, review: BugReview | None, rank: float, is_listed: bool) -> None:
    item = make_entry(1, points, review)
    assert abs(compute_rank(item.risk, item.review) - rank) < 1e-9
    assert is_worth_listing(item) is is_listed
    assert bool(select_riskiest([item], 3, is_reduced=False)) is is_listed


def test_a_revert_is_never_listed_whatever_was_found() -> None:
    revert = make_entry(1, 20, BugReview((CONFIRMED,)), may_be_listed=False)
    assert (is_worth_listing(revert), rank_reviewed([revert])) == (False, ())


def test_the_order_is_that_of_both() -> None:
    items = [
        make_entry(1, 13),
        make_entry(2, 18, NOTHING),
        make_entry(3, 5, BugReview((CONFIRMED,))),
        make_entry(4, 12.5, BugReview((POSSIBLE,))),
    ]
    assert [item.number for item in rank_reviewed(items)] == [3, 2, 4, 1]
    assert [item.number for item in select_riskiest(items, 2, is_reduced=False)] == [3, 2]
    assert [item.number for item in select_riskiest(items, 2, is_reduced=True)] == []
    unsure = make_entry(6, 20, BugReview((UNSURE,)))
    assert [item.number for item in rank_reviewed([unsure, *items])] == [3, 6, 2, 4, 1], "certainty before bands"
    sure = make_entry(5, 8.5, BugReview((CONFIRMED,)))
    assert [item.number for item in select_riskiest([*items, sure], 2, is_reduced=True)] == [5]


def test_equal_ones_stay_in_their_order_which_is_newest_first() -> None:
    items = [make_entry(number, 13) for number in (7, 3, 5)]
    assert [item.number for item in select_riskiest(items, 2, is_reduced=False)] == [7, 3]
