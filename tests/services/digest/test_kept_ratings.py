"""The ratings in the record of a digest: what is written is read."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.review.models import BugReview, FindingStatus, ReviewVerdict
from bot.domain.risk.assessment import Risk
from bot.domain.track_record.posted_ratings import PostedRatings, RatedPullRequest
from bot.features.digest.rules import collect_ratings
from bot.features.digest.view import render_digest
from bot.services.digest.posted_digest import PostedDigest
from bot.services.digest.posting_plan import RATINGS_ADAPTER, PostingPlan
from tests.helpers.builders import NOON, digest, entry, finding


def load(text: str) -> PostedRatings | None:
    return PostedDigest(ratings_json=text).ratings


def test_what_is_written_is_read() -> None:
    possible = BugReview((finding(status=FindingStatus.POSSIBLE),))
    entries = [
        replace(entry(number), risk=Risk(points, ()), review=review)
        for number, points, review in (
            (3, 5.0, BugReview((finding(),))),
            (2, 20.0, possible),
            (1, 14.0, BugReview()),
        )
    ]
    day_digest = digest(*entries, replace(entry(4), risk=Risk(1.0, ())))
    plan = PostingPlan.load(PostingPlan.from_rendered(render_digest(day_digest)).dump())
    kept = load(plan.ratings)
    assert kept == collect_ratings(day_digest)
    assert kept is not None
    assert {each.number: each.verdict for each in kept.rated} == {
        3: ReviewVerdict.CONFIRMED,
        2: ReviewVerdict.POSSIBLE,
        1: ReviewVerdict.NOTHING,
        4: None,
    }
    assert {each.number for each in kept.rated if each.is_listed_by_rules} == {1, 2}


def test_a_verdict_that_is_unknown_here_is_a_digest_without_ratings() -> None:
    kept = RATINGS_ADAPTER.dump_json(PostedRatings("rules.v2", (RatedPullRequest(2, NOON, 20.5, 900),))).decode()
    assert load(kept)
    assert load(kept.replace('"verdict":null', '"verdict":"certain"')) is None
