"""What people read about a failed call to a model, the same from each provider: clauses of a sentence."""

from __future__ import annotations

MODEL_MISSING = "there is no model with that name"
MODEL_BUSY = "the model is busy"
MODEL_TIMED_OUT = "the model did not answer in time"
MODEL_UNREACHABLE = "the model can't be reached"
MODEL_STOPPED = "the model stopped before the end of its answer"
MODEL_CUT = "the model's answer was truncated at its length limit"
MODEL_DECLINED = "the model declined to answer"
CONNECTION_BROKE = "the connection to the model broke"
WRONG_SERVICE = "another server answered instead of the model"


def format_rejection(status: int) -> str:
    """Return that a request was rejected for good, with the status of the answer."""
    return f"the model rejected the request with status {status}"
