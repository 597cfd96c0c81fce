"""Deadlines for calls of an httpx client: registers the connection of each request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2

from bot.adapters.http.bounded_calls import register_connection


def track_connections(client: httpx2.Client) -> None:
    """Register the connections that the client opens from now on.

    The client must keep none open, because the use of a kept connection is not reported.
    """
    client.event_hooks = {"request": [_request_trace]}


def _request_trace(request: httpx2.Request) -> None:
    """Ask httpx to report the events of a request."""
    request.extensions["trace"] = _register_traced


def _register_traced(_event: str, info: Mapping[str, Any]) -> None:
    """Register the socket of an event of httpx's ``trace`` extension that returns a stream, plain or TLS."""
    get_info = getattr(info.get("return_value"), "get_extra_info", None)
    if get_info:
        register_connection(get_info("socket"), is_new_request=False)
