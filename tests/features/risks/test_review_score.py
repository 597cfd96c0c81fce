from dataclasses import replace
from datetime import timedelta

from bot.features.merges.review import ReviewVerdict
from bot.features.risks.ratings import RatedPullRequest
from bot.features.risks.rules import NO_REVIEW_SCORE, ReviewScore, ReviewScoreVerdict, Tally, compute_score
from impact.history.outcomes import OutcomeKind
from tests.features.risks.test_score import NOW, end, issue, score
from tests.helpers.builders import NOON
from tests.helpers.tables import check_rows

CONFIRMED, POSSIBLE, NOTHING = ReviewVerdict.CONFIRMED, ReviewVerdict.POSSIBLE, ReviewVerdict.NOTHING


def make_rating(
    number: int, verdict: ReviewVerdict | None = None, *, listed: bool = False, by_rules: bool = False
) -> RatedPullRequest:
    return RatedPullRequest(number, NOON, 12.0, 10, is_listed=listed, is_listed_by_rules=by_rules, verdict=verdict)


def test_a_digest_by_hand() -> None:
    """Of seven, 1 and 2 are on both lists, 3 and 4 were added, 5 was left out, 6 and 7 are on none."""
    shown = (
        make_rating(1, CONFIRMED, listed=True, by_rules=True),
        make_rating(2, listed=True, by_rules=True),
        make_rating(3, CONFIRMED, listed=True),
        make_rating(4, POSSIBLE, listed=True),
        make_rating(5, NOTHING, by_rules=True),
        make_rating(6, NOTHING),
        make_rating(7),
    )
    track_record = score([issue(*shown)], [end(1), end(3, fate=OutcomeKind.REPAIRED), end(5), end(7)])
    assert track_record.listed == Tally(4, 1, 1)
    assert track_record.reviews == ReviewScore(
        by_rules=Tally(3, 2, 0),
        added=Tally(2, 0, 1),
        left_out=Tally(1, 1, 0),
        missed=(end(5),),
        by_verdict=(
            (CONFIRMED, Tally(2, 1, 1)),
            (POSSIBLE, Tally(1)),
            (NOTHING, Tally(2, 1, 0)),
            (None, Tally(2, 1, 0)),
        ),
    )
    assert track_record.reviews.differing == Tally(3, 1, 1)


def test_what_a_digest_knew_and_what_came_too_late_does_not_count() -> None:
    shown = (
        make_rating(1, CONFIRMED, listed=True),
        make_rating(2, CONFIRMED, listed=True),
        make_rating(3, CONFIRMED, listed=True),
    )
    late = end(3, timedelta(days=40))
    track_record = score([issue(*shown, known=(1,))], [end(1), end(2), late])
    assert (track_record.reviews.added, track_record.reviews.by_verdict[0]) == (
        Tally(2, 1),
        (CONFIRMED, Tally(2, 1)),
    )


def test_each_counts_once_with_its_verdict_in_the_first_digest() -> None:
    early, late = make_rating(1, listed=True, by_rules=True), make_rating(1, CONFIRMED, listed=True)
    again = issue(late, make_rating(2, NOTHING), after=timedelta(days=2), key="digest:2")
    track_record = compute_score([again, issue(early)], [end(1, timedelta(days=3))], NOW)
    assert dict(track_record.reviews.by_verdict) == {
        None: Tally(1, 1),
        NOTHING: Tally(1),
        CONFIRMED: Tally(),
        POSSIBLE: Tally(),
    }


def test_without_reviews_there_is_nothing_to_say_of_them() -> None:
    listed = [make_rating(number, listed=True, by_rules=True) for number in (1, 2)]
    track_record = score([issue(*listed, make_rating(3))], [end(1)])
    assert track_record.reviews == replace(NO_REVIEW_SCORE, by_rules=Tally(2, 1))
    assert not track_record.reviews.has_reviews


def differing(added: Tally, left_out: Tally) -> ReviewScore:
    return ReviewScore(added=added, left_out=left_out)


@check_rows(
    {
        "nothing": (Tally(), Tally(), ReviewScoreVerdict.TOO_FEW),
        "19 differ": (Tally(10, 9), Tally(9), ReviewScoreVerdict.TOO_FEW),
        "4 taken back": (Tally(10, 4), Tally(10), ReviewScoreVerdict.TOO_FEW),
        # 10 choose 5 of 20 choose 5: 252 of 15,504, or 1.6 %
        "all of the five were added": (Tally(10, 3, 2), Tally(10), ReviewScoreVerdict.REVIEWS),
        "all of the five were left out": (Tally(10), Tally(10, 5), ReviewScoreVerdict.RULES),
        # (210 * 10 + 252) of 15,504, or 15 %
        "four of the five": (Tally(10, 4), Tally(10, 1), ReviewScoreVerdict.NEITHER),
        "none was left out": (Tally(20, 9), Tally(), ReviewScoreVerdict.NEITHER),
    }
)
def test_a_verdict_needs_counts_that_bear_it(added: Tally, left_out: Tally, verdict: ReviewScoreVerdict) -> None:
    assert differing(added, left_out).verdict is verdict
