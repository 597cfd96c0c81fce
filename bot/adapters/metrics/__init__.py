"""Metrics of this process, for Prometheus."""

from __future__ import annotations

from bot.adapters.metrics.cached_values import ObservedCache
from bot.adapters.metrics.instruments import Instruments
from bot.adapters.metrics.models import ObservedChat, ObservedModel
from bot.adapters.metrics.requests import RequestRecord, count_request
from bot.adapters.metrics.runs import ObservedRunLog

__all__ = [
    "Instruments",
    "ObservedCache",
    "ObservedChat",
    "ObservedModel",
    "ObservedRunLog",
    "RequestRecord",
    "count_request",
]
