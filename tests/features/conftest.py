"""What features remember for a while, on a real store."""

from tests.services.conftest import cache

__all__ = ["cache"]
