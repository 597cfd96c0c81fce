"""Sentences about failed calls to Claude alone, for the adapter with the SDK and the doctor without it."""

from __future__ import annotations

KEY_REFUSED = "the model's API key or credentials were rejected"
NO_CLOUD_ACCESS = "there are no credentials for the model's cloud"
