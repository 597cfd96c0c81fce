"""An embedded Valkey server for people who run none: one for each state directory."""

from __future__ import annotations

from bot.platform.store.embedded.server import (
    claim_state,
    is_platform_supported,
    start_embedded,
    start_embedded_url,
    stop_embedded,
)
from bot.platform.store.embedded.socket_path import get_socket_path

__all__ = [
    "claim_state",
    "get_socket_path",
    "is_platform_supported",
    "start_embedded",
    "start_embedded_url",
    "stop_embedded",
]
