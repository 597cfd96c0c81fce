"""What people and operators read about failed calls to a model, the same from each provider."""

from __future__ import annotations

import logging

log = logging.getLogger(__name__)

# clauses of a sentence
MODEL_MISSING = "there is no model with that name"
MODEL_BUSY = "the model is busy"
MODEL_TIMED_OUT = "the model did not answer in time"
MODEL_UNREACHABLE = "the model can't be reached"
MODEL_STOPPED = "the model stopped before the end of its answer"
MODEL_CUT = "the model's answer was truncated at its length limit"
MODEL_DECLINED = "the model declined to answer"
CONNECTION_BROKE = "the connection to the model broke"
WRONG_SERVICE = "another server answered instead of the model"

MIN_TIMEOUT = 1.0  # seconds; with less, a call at the very end could not even begin its answer


def format_rejection(status: int) -> str:
    return f"the model rejected the request with status {status}"


class AdviceLog:
    """Advice for operators in the log, each sentence once. It is of no use to readers of an answer."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def log_once(self, advice: str) -> None:
        if advice and advice not in self._logged:
            self._logged.add(advice)
            log.warning(advice)
