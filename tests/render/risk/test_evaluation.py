"""An evaluation on a terminal and for scripts."""

from __future__ import annotations

import datetime as dt
import json
import math
from zoneinfo import ZoneInfo

from bot.domain.evaluation.bootstrap import Estimate
from bot.domain.evaluation.labels import EvaluationWindow
from bot.domain.evaluation.measurement import RankingRow, TopRow
from bot.domain.evaluation.models import (
    BandShare,
    CaseScore,
    Evaluation,
    EvaluationSource,
    PositiveCount,
    RuleEffect,
)
from bot.domain.evaluation.path_shares import NonProductShare, PathShare
from bot.domain.evaluation.verdict import EvaluationVerdict, RankingSignal
from bot.domain.pull_requests.path_classes import PathClass
from bot.render.risk.evaluation import format_evaluation_json, format_scores, format_table

UNKNOWN = Estimate(math.nan, math.nan, math.nan)
WINDOW = EvaluationWindow(dt.date(2025, 10, 1), dt.date(2025, 12, 31), ZoneInfo("Asia/Tokyo"))


def evaluation(branch: str = "main") -> Evaluation:
    rules = RankingRow(
        "rules",
        "H",
        0.656,
        Estimate(0.691, 0.603, 0.77),
        Estimate(0.03, 0.01, 0.05),
        Estimate(0.025, 0, 0.04),
        UNKNOWN,
    )
    even = Estimate(0.5, 0.5, 0.5)
    return Evaluation(
        source=EvaluationSource("octo/engine", branch, dt.date(2025, 3, 1)),
        window=WINDOW,
        rules="rules.v2",
        pulls=2000,
        open=1990,
        days=92,
        positives=(PositiveCount("H", 50, 40),),
        rows=(rules, RankingRow("random", "H", 0.5, even, even, even, even)),
        gains={"H": Estimate(0.073, 0.002, 0.144)},
        listed=(TopRow("H", 10, 237, Estimate(0.025, 0.008, 0.046), Estimate(0.188, 0.069, 0.308)),),
        bands=(BandShare("lowest", 0.201, {"H": 0.01}), BandShare("high", 0.0, {"H": math.nan})),
        effects=(RuleEffect("build", 194, {"H": 0.052}, {"H": Estimate(-0.002, -0.014, 0.022)}),),
        without_product=NonProductShare(0.193, (PathShare("examples/", PathClass.DOCS, 7),)),
        notes=("The clone is shallow.",),
        verdict=EvaluationVerdict(RankingSignal.CLEAR, "It is better than chance."),
        scores=(CaseScore(12, 5.0003642), CaseScore(7, -8.0)),
    )


TABLE = """\
octo/engine, branch main, merged 2025-10-01 to 2025-12-31 (UTC), rules.v2
2,000 pull requests, history from 2025-03-01; without product and build files: 19.3%
H  reverted, or named as the cause by a repair: 50, 40 of them still open at 09:00 on the next day
Measured on the 1,990 that were open then, 92 days in Asia/Tokyo; 'AUC all' on all; [95% intervals over days]

   ranking  AUC all  AUC                   average precision     precision, top 3 a day  recall, top 3 a day
H  rules    0.656    0.691 [0.603, 0.770]  0.030 [0.010, 0.050]  0.025 [0.000, 0.040]    -
H  random   0.500    0.500                 0.500                 0.500                   0.500
AUC of the rules less that of lines added: H +0.073 [+0.002, +0.144]

Top 3 of a day, only from 10 points on: 237 places
   precision             recall
H  0.025 [0.008, 0.046]  0.188 [0.069, 0.308]

band    share   H
high    0.0%    -
lowest  20.1%   1.0%
all     100.0%  2.5%

rule   fired on  H     AUC H it adds
build  194       5.2%  -0.002 [-0.014, +0.022]
all    2,000     2.5%

Note: The clone is shallow.
Verdict: signal. It is better than chance."""


def test_the_table_is_read_from_top_to_verdict() -> None:
    assert format_table(evaluation()) == TABLE


def test_any_terminal_can_show_it() -> None:
    table = format_table(evaluation("ünï\x1b[31m\n\u202ebranch"))
    assert "branch ?n?[31m branch, merged" in table
    assert table.isascii()
    assert table.replace("\n", "").isprintable()


def test_json_holds_the_same_and_is_json() -> None:
    document = json.loads(format_evaluation_json(evaluation()), parse_constant=refuse)
    assert document["source"] == {"repository": "octo/engine", "branch": "main", "history_from": "2025-03-01"}
    assert document["window"] == {"since": "2025-10-01", "until": "2025-12-31", "timezone": "Asia/Tokyo"}
    assert document["rows"][0]["auc"] == {"value": 0.691, "low": 0.603, "high": 0.77}
    assert document["rows"][0]["recall"] == {"value": None, "low": None, "high": None}
    assert document["bands"][1] == {"band": "high", "share": 0.0, "rates": {"H": None}}
    assert document["verdict"] == {"signal": "signal", "sentence": "It is better than chance."}
    assert document["without_product"]["places"] == [{"pattern": "examples/", "kind": "docs", "pulls": 7}]
    assert (document["pulls"], document["scores"], document["notes"]) == (2000, 2, ["The clone is shallow."])


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def test_scores_are_csv_in_the_order_of_merges() -> None:
    assert format_scores(evaluation()) == "pr,score\n12,5.000364\n7,-8.000000\n"
