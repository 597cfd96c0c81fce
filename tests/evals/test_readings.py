"""The figures of read pairs: what a review is worth, ties, memory, what was not read, and how they are shown."""

import json
import math
from dataclasses import replace

import pytest

from bot.features.merges.review import BugFinding, BugReview, Certainty, FindingAdvice, FindingStatus
from bot.features.merges.risk import Risk
from bot.features.merges.summary import Evidence
from evals.reading.figures import (
    Reading,
    ReadingEvaluation,
    ReadPair,
    RightCount,
    evaluate_readings,
    explain_few_pairs,
    format_reading,
    format_reading_json,
    score_review,
)
from evals.reading.pairs import MatchedPair, PairChoice
from impact.source.models import DiffSide
from tests.helpers.builders import pull

PROOF = Evidence("engine/run.py", "size = len(batch)", DiffSide.NEW, 5)
POSSIBLE = BugFinding(
    "It fails.", "A batch of 1", "All", FindingStatus.POSSIBLE, Certainty.MEDIUM, FindingAdvice.WATCH
)
CONFIRMED = replace(POSSIBLE, status=FindingStatus.CONFIRMED, evidence=PROOF)
NOTHING = BugReview()


def review(*findings: BugFinding) -> BugReview:
    return BugReview(findings)


def read_pair(repaired: Reading, other: Reading, points: tuple[float, float] = (0.0, 0.0)) -> ReadPair:
    pair = MatchedPair(pull(1), pull(2))
    return ReadPair(pair, repaired, other, Risk(points[0], ()), Risk(points[1], ()))


def test_the_verdict_comes_before_certainty_and_certainty_before_numbers() -> None:
    low, high = (replace(POSSIBLE, certainty=each) for each in (Certainty.LOW, Certainty.HIGH))
    rising = [
        NOTHING,
        review(low),
        review(low, low),
        review(POSSIBLE),
        review(POSSIBLE, low),
        review(high),
        review(*[high] * 6),
        review(replace(CONFIRMED, certainty=Certainty.LOW)),
        review(CONFIRMED),
    ]
    scores = [score_review(each) for each in rising]
    assert scores == sorted(set(scores))
    # what is only possible adds nothing to a confirmed bug
    assert score_review(review(CONFIRMED, high, high)) == score_review(review(CONFIRMED))
    assert score_review(review(*[low] * 50)) < score_review(review(POSSIBLE))


def test_pairs_are_counted_right_wrong_and_tied() -> None:
    confirmed_reading, nothing = Reading(review(CONFIRMED)), Reading(NOTHING)
    result = evaluate_readings(
        [
            read_pair(confirmed_reading, nothing, (9.0, 3.0)),
            read_pair(nothing, confirmed_reading, (9.0, 20.0)),
            read_pair(nothing, nothing, (5.0, 5.0)),
            read_pair(confirmed_reading, Reading(review(POSSIBLE)), (1.0, 2.0)),
        ]
    )
    reading = result.reading
    assert (reading.right, reading.ties, reading.pairs, reading.share) == (2.5, 1, 4, 0.625)
    # of 16 comparisons, two confirmed win 3 each and tie once, and two empty ones win none and tie twice
    assert reading.auc == pytest.approx((2 * 3.5 + 2 * 1.0) / 16)
    assert (result.rules.right, result.rules.ties) == (1.5, 1)
    # the review moves what the rules say: 17 to -1, 5 to 28, 1 to 1, 9 to 5
    assert result.together.right == 2.5
    assert (result.confirmed, result.quoted, result.chosen) == (3, 3, 4)


def test_memory_is_counted_apart() -> None:
    confirmed_reading, nothing = Reading(review(CONFIRMED)), Reading(NOTHING)
    result = evaluate_readings(
        [read_pair(confirmed_reading, replace(nothing, is_recognised=True)), read_pair(nothing, confirmed_reading)]
    )
    assert (result.reading.right, result.reading.pairs) == (1, 2)
    assert (result.recognised.right, result.recognised.pairs) == (1, 1)
    assert (result.unrecognised.right, result.unrecognised.pairs) == (0, 1)


def test_what_was_not_read_is_named_and_not_counted() -> None:
    failed = Reading(cost=0.02, problem="the model's report was not usable")
    result = evaluate_readings([read_pair(Reading(review(CONFIRMED), cost=0.05), failed)])
    assert (result.chosen, result.reading.pairs, result.rules.pairs) == (1, 0, 0)
    assert math.isnan(result.reading.share)
    assert math.isnan(result.reading.auc)
    assert result.problems == ((2, "the model's report was not usable"),)
    # what it found and cost is not hidden
    assert result.confirmed == 1
    assert result.cost == pytest.approx(0.07)


def test_a_confirmed_finding_without_a_quote_shows() -> None:
    bare = replace(CONFIRMED, evidence=None)
    result = evaluate_readings([read_pair(Reading(review(bare, CONFIRMED, POSSIBLE)), Reading(NOTHING))])
    assert (result.confirmed, result.quoted) == (2, 1)


def test_an_unknown_price_makes_the_cost_unknown() -> None:
    assert evaluate_readings([read_pair(Reading(NOTHING, cost=None), Reading(NOTHING, cost=1.0))]).cost is None


RESULT = ReadingEvaluation(
    chosen=30,
    reading=RightCount(24.5, 3, 29, 0.8125),
    unrecognised=RightCount(24.5, 3, 29, 0.8125),
    recognised=RightCount(0, 0, 0, math.nan),
    rules=RightCount(20, 0, 29, 0.7),
    together=RightCount(25, 1, 29, 0.85),
    confirmed=41,
    quoted=41,
    cost=3.126,
    problems=((12, "the model refused"),),
)


def test_a_table_for_people() -> None:
    assert format_reading(RESULT, 7, 34).splitlines() == [
        "30 pairs of a merge that was reverted or repaired within 14 days and one like it; 34 such merges, seed 7",
        "29 pairs read, each merge by itself; chance is 50 %",
        "",
        "                   right             95 % interval  ties  AUC",
        "reading            24.5 of 29, 84 %  [67 %, 93 %]   3     0.812",
        "  not recognised   24.5 of 29, 84 %  [67 %, 93 %]   3     0.812",
        "  recognised       0 of 0            -              -     -",
        "rules              20 of 29, 69 %    [51 %, 83 %]   0     0.700",
        "rules and reading  25 of 29, 86 %    [69 %, 95 %]   1     0.850",
        "",
        "Confirmed findings: 41, 41 of them with a quote that code found",
        "Cost of this run: $3.13",
        "Not read: 1 merge; a pair counts only if both are read",
        "  #12: the model refused",
    ]


def test_problems_are_not_hidden_nor_endless() -> None:
    many = replace(RESULT, problems=tuple((n, "away \N{EM DASH} \x1b[31m") for n in range(1, 15)), cost=None)
    text = format_reading(many, 7, 34)
    assert text.endswith("  #10: away ? ?[31m\n  and 4 more")
    assert "Cost of this run: unknown" in text


def test_json_has_each_pair_and_no_undefined_number() -> None:
    pair = read_pair(Reading(NOTHING, cost=0.05), Reading(problem="away"), (9.0, 3.0))
    document = json.loads(format_reading_json(RESULT, 7, [pair], 34))
    assert (document["eligible"], document["seed"], document["recognised"]["auc"]) == (34, 7, None)
    assert (document["pairs"][0]["repaired"], document["pairs"][0]["points"]) == (1, [9, 3])
    assert document["pairs"][0]["readings"]["2"]["problem"] == "away"


def test_few_pairs_are_explained() -> None:
    choice = PairChoice((MatchedPair(pull(1), pull(2)),), 3)
    assert explain_few_pairs(choice, 1) == ""
    assert explain_few_pairs(choice, 30) == (
        "Note: 1 pair in place of 30: 3 repaired merges of these dates may be in one, if another is like it."
    )
