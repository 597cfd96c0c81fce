"""The verdict of an evaluation: whether the list is reliable in a repository."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.evaluation.bootstrap import Estimate

# with 20 positives the 95% interval of an AUC of .7 extends about .13 to each side (standard error by Hanley and
# McNeil 1982): with fewer, .7 could hardly be distinguished from chance
MIN_POSITIVES = 20
# the AUC of chance, and of a usable list: the interval of vLLM's rules begins at .61; those of two other
# repositories, where the list did not help, begin at .48 and .54
_CHANCE_AUC, _USABLE_AUC = 0.50, 0.55


class RankingSignal(StrEnum):
    """How well the list predicts reverts and repairs."""

    TOO_FEW = "too few to tell"
    NONE = "no signal"
    WEAK = "weak signal"
    CLEAR = "signal"


@dataclass(frozen=True, slots=True)
class EvaluationVerdict:
    """The signal and the sentence with its consequence."""

    signal: RankingSignal
    sentence: str


def judge_ranking(positives: int, auc: Estimate, gain: Estimate) -> EvaluationVerdict:
    """Judge the AUC of the open cases and its ``gain`` over a list by lines added."""
    signal = classify_signal(positives, auc)
    if signal is RankingSignal.CLEAR:
        return EvaluationVerdict(
            signal, f"On this repository the list is better than chance{_compare_with_lines(gain)}."
        )
    if signal is RankingSignal.TOO_FEW:
        return EvaluationVerdict(
            signal,
            f"Only {positives} open pull requests were reverted or repaired, and a verdict needs "
            f"{MIN_POSITIVES}: measure a longer window, and don't rely on the list until then.",
        )
    chance = "near chance" if signal is RankingSignal.NONE else "barely better than chance"
    return EvaluationVerdict(
        signal,
        f"On this repository the list is {chance}: don't rely on it, and show at most one change of the "
        "highest band a day.",
    )


def classify_signal(positives: int, auc: Estimate) -> RankingSignal:
    """Return the signal for the lower end of the interval of the AUC."""
    if positives < MIN_POSITIVES or not auc.is_defined:
        return RankingSignal.TOO_FEW
    if auc.low < _CHANCE_AUC:
        return RankingSignal.NONE
    return RankingSignal.CLEAR if auc.low >= _USABLE_AUC else RankingSignal.WEAK


def _compare_with_lines(gain: Estimate) -> str:
    if not gain.is_defined or gain.low <= 0 <= gain.high:
        return ", but not clearly better than a list by lines added"
    return " and than a list by lines added" if gain.low > 0 else ", but worse than a list by lines added"
