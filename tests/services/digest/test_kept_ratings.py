"""The ratings in the record of a digest: what this version writes it reads, and what earlier ones wrote too."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.review.models import BugReview, FindingStatus, ReviewVerdict
from bot.domain.risk.assessment import Risk
from bot.domain.track_record.posted_ratings import PostedRatings, RatedPullRequest, collect_ratings
from bot.render.digest.post import render_digest
from bot.services.digest.posted_digest import PostedDigest
from bot.services.digest.posting_plan import RATINGS_ADAPTER, PostingPlan
from tests.helpers.builders import NOON, digest, entry, finding
from tests.helpers.tables import check_rows

# as the version before reviews wrote them
BEFORE = (
    '{"version":"rules.v2","rated":[{"number":2,"merged_at":"2026-02-28T20:00:00Z","points":20.5184,"lines":900,'
    '"is_listed":true,"rules":["size","hot title"]}],"known":[]}'
)


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
    assert {each.number for each in kept.rated if each.would_be_listed_by_rules} == {1, 2}


@check_rows(
    {
        "before reviews": BEFORE,
        "of a later version": BEFORE.replace('"rules":', '"unknown":7,"rules":'),
    }
)
def test_what_another_version_wrote_is_read(text: str) -> None:
    rules = ("size", "hot title")
    old = RatedPullRequest(2, NOON, 20.5184, 900, is_listed=True, rules=rules)
    kept = load(text)
    assert kept == PostedRatings("rules.v2", (old,))
    assert kept is not None
    assert RATINGS_ADAPTER.validate_json(RATINGS_ADAPTER.dump_json(kept)) == kept
    assert kept.rated[0].would_be_listed_by_rules


def test_a_verdict_that_is_unknown_here_is_a_digest_without_ratings() -> None:
    assert load(BEFORE.replace('"rules":', '"verdict":"certain","rules":')) is None
