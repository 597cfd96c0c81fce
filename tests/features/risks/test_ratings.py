from dataclasses import replace
from datetime import timedelta

from bot.features.digest.rules import collect_ratings
from bot.features.merges.review import BugReview, Certainty, FindingStatus, ReviewVerdict
from bot.features.merges.risk import RULES_VERSION, Risk, RuleHit
from bot.features.risks.ratings import PostedRatings, RatedPullRequest, merge_ratings
from tests.helpers.builders import NOON, digest, entry, finding

FIRED = (RuleHit("size", 15.0, "adds 500 lines"), RuleHit("calm title", -2.0))


def test_all_that_is_shown_is_kept_with_its_points_rules_and_lines() -> None:
    listed = replace(entry(5, additions=500), risk=Risk(13.00004, ("adds 500 lines",), FIRED))
    quiet = replace(entry(4, additions=3), risk=Risk(1.0, ()))
    assert collect_ratings(digest(listed, quiet)) == PostedRatings(
        RULES_VERSION,
        (
            RatedPullRequest(
                5,
                listed.pull.merge_time,
                13.0,
                500,
                is_listed=True,
                rules=("size", "calm title"),
                is_listed_by_rules=True,
            ),
            RatedPullRequest(4, quiet.pull.merge_time, 1.0, 3, is_listed_by_rules=False),
        ),
    )


def test_no_more_are_listed_than_the_digest_shows() -> None:
    many = [replace(entry(n), risk=Risk(12.0 + n, ())) for n in range(1, 7)]
    assert [each.number for each in collect_ratings(digest(*many)).rated if each.is_listed] == [4, 5, 6]
    sparing = replace(digest(*many), is_reduced=True)
    assert [each.number for each in collect_ratings(sparing).rated if each.is_listed] == [6]


def test_reviews_are_kept_apart_from_points_and_lists_of_the_rules() -> None:
    unsure = finding(status=FindingStatus.POSSIBLE, certainty=Certainty.MEDIUM)
    rated = {
        # points, review: is listed, is listed by the rules
        5: (16.0, BugReview(), (True, True), ReviewVerdict.NOTHING),
        4: (13.0, BugReview(), (False, True), ReviewVerdict.NOTHING),
        3: (5.0, BugReview((finding(),)), (True, False), ReviewVerdict.CONFIRMED),
        2: (1.0, BugReview((unsure,)), (False, False), ReviewVerdict.POSSIBLE),
        1: (14.0, None, (True, True), None),
    }
    entries = [replace(entry(n), risk=Risk(points, ()), review=made) for n, (points, made, *_) in rated.items()]
    ratings = {each.number: each for each in collect_ratings(digest(*entries)).rated}
    for number, (points, _, lists, verdict) in rated.items():
        each = ratings[number]
        assert (each.points, each.verdict) == (points, verdict)
        assert (each.is_listed, each.is_listed_by_rules) == lists


def test_what_was_known_to_be_taken_back_is_marked_and_not_listed() -> None:
    gone = replace(entry(5, title="Count once"), risk=Risk(20.0, ()))
    back = entry(9, title='Revert "Count once" (#5)', merged_at=NOON + timedelta(hours=1))
    ratings = collect_ratings(digest(gone, back))
    assert (ratings.known, [each.is_listed for each in ratings.rated]) == ((5,), [False, False])


def test_what_a_digest_lacked_is_added_and_all_else_stays_as_it_was_posted() -> None:
    one, two, three = (RatedPullRequest(n, NOON, float(n), n) for n in (1, 2, 3))
    first = PostedRatings("rules.v1", (one, two), known=(1,))
    later = PostedRatings("rules.v2", (three, replace(two, is_listed=True), one), known=(1, 2, 3))
    assert merge_ratings(first, later) == PostedRatings("rules.v1", (one, two, three), known=(1, 3))
    assert merge_ratings(first, first) == first
