"""The outside services of connections, on the loopback."""

from __future__ import annotations

from tests.platform.conftest import github

__all__ = ["github"]
