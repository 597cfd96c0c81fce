"""An embedded Valkey server for people who run none: one for each state directory."""

from __future__ import annotations

from bot.adapters.embedded.server import claimed, embedded_url, end_embedded, is_there, start_embedded
from bot.adapters.embedded.socket_path import socket_path

__all__ = [
    "claimed",
    "embedded_url",
    "end_embedded",
    "is_there",
    "socket_path",
    "start_embedded",
]
