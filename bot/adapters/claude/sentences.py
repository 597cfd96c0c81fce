"""What is said of a failed call to Claude, by whoever asks with its SDK and by the doctor, who does without."""

from __future__ import annotations

REFUSED = "the model's API key is refused"
BUSY = "the model is busy"
LATE = "the model did not answer in time"
AWAY = "the model can't be reached"
ELSEWHERE = "something else than the model answered"
