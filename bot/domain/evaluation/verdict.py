"""The verdict of an evaluation: whether the list is reliable in a repository."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.evaluation.bootstrap import Estimate

# with 20 positives the 95 % interval of an AUC of .7 extends about .13 to each side (standard error by Hanley and
# McNeil 1982): with fewer, .7 could hardly be distinguished from chance
ENOUGH = 20
# the AUC of chance, and of a usable list: the interval of vLLM's rules begins at .61; those of two other
# repositories, where the list did not help, begin at .48 and .54
_CHANCE, _USABLE = 0.50, 0.55


class Signal(StrEnum):
    """How well the list predicts reverts and repairs."""

    TOO_FEW = "too few to tell"
    NONE = "no signal"
    WEAK = "weak signal"
    CLEAR = "signal"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The signal and the sentence with its consequence."""

    signal: Signal
    sentence: str


def verdict(positives: int, auc: Estimate, gain: Estimate) -> Verdict:
    """Judge the AUC of the open cases and its ``gain`` over a list by lines added."""
    signal = signal_of(positives, auc)
    if signal is Signal.CLEAR:
        return Verdict(signal, f"On this repository the list is better than chance{_beside(gain)}.")
    if signal is Signal.TOO_FEW:
        return Verdict(
            signal,
            f"Only {positives} open pull requests were taken back or repaired, {ENOUGH} are the least that tell"
            " anything: measure a longer window, and don't rely on the list until then.",
        )
    chance = "near chance" if signal is Signal.NONE else "hardly better than chance"
    return Verdict(
        signal,
        f"On this repository the list is {chance}: don't rely on it, show at most what is in the highest band, one"
        " a day.",
    )


def signal_of(positives: int, auc: Estimate) -> Signal:
    """Return the signal for the lower end of the interval of the AUC."""
    if positives < ENOUGH or not auc.is_known:
        return Signal.TOO_FEW
    if auc.low < _CHANCE:
        return Signal.NONE
    return Signal.CLEAR if auc.low >= _USABLE else Signal.WEAK


def _beside(gain: Estimate) -> str:
    if not gain.is_known or gain.low <= 0 <= gain.high:
        return ", but not clearly better than the same list by lines added"
    return " and than lines added" if gain.low > 0 else ", but worse than the same list by lines added"
