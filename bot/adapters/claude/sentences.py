"""Sentences about failed calls to Claude, for the adapter with the SDK and the doctor without it."""

from __future__ import annotations

KEY_REFUSED = "the model's API key or credentials were rejected"
MODEL_BUSY = "the model is busy"
MODEL_TIMED_OUT = "the model did not answer in time"
NO_CLOUD_ACCESS = "there are no credentials for the model's cloud"
MODEL_UNREACHABLE = "the model can't be reached"
WRONG_SERVICE = "another server answered instead of the model"
