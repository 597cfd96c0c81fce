"""The outside worlds of features: a model on the loopback, and a cache on a real store."""

from tests.services.conftest import cache, model

__all__ = ["cache", "model"]
