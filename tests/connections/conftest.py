"""The outside services of connections, on the loopback."""

from tests.platform.conftest import github

__all__ = ["github"]
