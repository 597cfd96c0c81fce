"""The figures of a reading on a terminal and for scripts."""

from __future__ import annotations

import json
import math
from dataclasses import replace

from bot.domain.evaluation.pairs import MatchedPair, PairChoice, PairRule
from bot.domain.evaluation.readings import Reading, ReadingEvaluation, ReadPair, RightCount
from bot.domain.review.models import BugReview
from bot.domain.risk.assessment import Risk
from bot.render.risk.paired_reading import explain_few_pairs, format_reading, format_reading_json
from tests.helpers.builders import pull

RULE = PairRule(30, seed=7)
NONE = RightCount(0, 0, 0, math.nan)
RESULT = ReadingEvaluation(
    chosen=30,
    reading=RightCount(24.5, 3, 29, 0.8125),
    unrecognised=RightCount(24.5, 3, 29, 0.8125),
    recognised=NONE,
    rules=RightCount(20, 0, 29, 0.7),
    together=RightCount(25, 1, 29, 0.85),
    confirmed=41,
    quoted=41,
    cost=3.126,
    problems=((12, "the model refused"),),
)


def test_a_table_for_people() -> None:
    assert format_reading(RESULT, RULE, 34).splitlines() == [
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
    text = format_reading(many, RULE, 34)
    assert text.endswith("  #10: away ? ?[31m\n  and 4 more")
    assert "Cost of this run: unknown" in text


def test_json_has_each_pair_and_no_undefined_number() -> None:
    reading = Reading(BugReview(), cost=0.05)
    pair = ReadPair(MatchedPair(pull(1), pull(2)), reading, Reading(problem="away"), Risk(9, ()), Risk(3, ()))
    document = json.loads(format_reading_json(RESULT, RULE, [pair], 34))
    assert (document["eligible"], document["seed"], document["recognised"]["auc"]) == (34, 7, None)
    assert (document["pairs"][0]["repaired"], document["pairs"][0]["points"]) == (1, [9, 3])
    assert document["pairs"][0]["readings"]["2"]["problem"] == "away"


def test_few_pairs_are_explained() -> None:
    pairs = (MatchedPair(pull(1), pull(2)),)
    assert explain_few_pairs(PairChoice(pairs, 3), PairRule(1)) == ""
    assert explain_few_pairs(PairChoice(pairs, 3), RULE) == (
        "Note: 1 pair in place of 30: 3 repaired merges of these dates may be in one, if another is like it."
    )
