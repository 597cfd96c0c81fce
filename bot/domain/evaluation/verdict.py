"""What follows from an evaluation: whether the list can be relied on in that repository."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.evaluation.bootstrap import Estimate

# with 20 positives the 95 % interval of an AUC of .7 is about .13 wide to each side (Hanley and McNeil 1982, there
# its standard error): .7 could then hardly be told from chance
ENOUGH = 20
# chance, and what can be used: vLLM's rules begin at .61; two other repositories, where the list was no help, had
# intervals from .48 and .54 on
_CHANCE, _USABLE = 0.50, 0.55


class Signal(StrEnum):
    """How well the list foresees what is taken back or repaired."""

    TOO_FEW = "too few to tell"
    NONE = "no signal"
    WEAK = "weak signal"
    CLEAR = "signal"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``signal`` in a word; ``sentence`` is what follows from it."""

    signal: Signal
    sentence: str


def verdict(positives: int, auc: Estimate, gain: Estimate) -> Verdict:
    """Judge the AUC of the open pull requests and its ``gain`` over lines added."""
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
    """By the lower end of the interval: what the AUC is at least."""
    if positives < ENOUGH or not auc.is_known:
        return Signal.TOO_FEW
    if auc.low < _CHANCE:
        return Signal.NONE
    return Signal.CLEAR if auc.low >= _USABLE else Signal.WEAK


def _beside(gain: Estimate) -> str:
    if not gain.is_known or gain.low <= 0 <= gain.high:
        return ", but not clearly better than the same list by lines added"
    return " and than lines added" if gain.low > 0 else ", but worse than the same list by lines added"
