"""The outside services of the container, on the loopback."""

from __future__ import annotations

from tests.adapters.conftest import github

__all__ = ["github"]
