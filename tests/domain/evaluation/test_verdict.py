"""Which figures are a signal, and what is said of those that are none."""

from __future__ import annotations

import math

import pytest

from bot.domain.evaluation.bootstrap import Estimate
from bot.domain.evaluation.verdict import RankingSignal, judge_ranking
from tests.helpers.checks import is_one_sentence

NO_GAIN = Estimate(0.01, -0.1, 0.1)


@pytest.mark.parametrize(
    ("positives", "auc", "signal"),
    [
        pytest.param(25, (0.68, 0.61, 0.76), RankingSignal.CLEAR, id="ten-rules-on-vllm"),
        pytest.param(32, (0.69, 0.60, 0.77), RankingSignal.CLEAR, id="these-rules-on-vllm"),
        pytest.param(40, (0.58, 0.48, 0.66), RankingSignal.NONE, id="another-repository"),
        pytest.param(40, (0.62, 0.54, 0.69), RankingSignal.WEAK, id="a-third-one"),
        pytest.param(40, (0.60, 0.55, 0.65), RankingSignal.CLEAR, id="just-usable"),
        pytest.param(40, (0.60, 0.50, 0.70), RankingSignal.WEAK, id="just-above-chance"),
        pytest.param(40, (0.30, 0.20, 0.40), RankingSignal.NONE, id="upside-down"),
        pytest.param(19, (0.90, 0.80, 0.95), RankingSignal.TOO_FEW, id="too-few"),
        pytest.param(20, (0.90, 0.80, 0.95), RankingSignal.CLEAR, id="enough"),
        pytest.param(0, (math.nan, math.nan, math.nan), RankingSignal.TOO_FEW, id="none"),
        pytest.param(30, (math.nan, math.nan, math.nan), RankingSignal.TOO_FEW, id="not-defined"),
    ],
)
def test_the_lower_end_decides(positives: int, auc: tuple[float, float, float], signal: RankingSignal) -> None:
    verdict = judge_ranking(positives, Estimate(*auc), NO_GAIN)
    assert verdict.signal is signal
    assert is_one_sentence(verdict.sentence.replace("0.", "0,"))
    assert ("don't rely on" in verdict.sentence) is (signal is not RankingSignal.CLEAR)


@pytest.mark.parametrize(
    ("gain", "phrase"),
    [
        pytest.param((0.07, 0.01, 0.15), "better than chance and than a list by lines added", id="better"),
        pytest.param((0.02, -0.01, 0.05), "not clearly better than a list by lines added", id="as-good"),
        pytest.param((-0.07, -0.1, -0.01), "worse than a list by lines added", id="worse"),
        pytest.param((math.nan, math.nan, math.nan), "not clearly better", id="not-defined"),
    ],
)
def test_a_signal_is_told_beside_lines_added(gain: tuple[float, float, float], phrase: str) -> None:
    assert phrase in judge_ranking(50, Estimate(0.7, 0.6, 0.8), Estimate(*gain)).sentence
