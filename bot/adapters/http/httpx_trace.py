"""Lets calls of an httpx client be bounded: it says over which connection each request goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2

from bot.adapters.http.bounded_calls import note_connection


def note_connections(client: httpx2.Client) -> None:
    """Note the connections that the client opens from now on; it must keep none, as a kept one is not told of."""
    client.event_hooks = {"request": [_ask_for_trace]}


def _ask_for_trace(request: httpx2.Request) -> None:
    request.extensions["trace"] = _note


def _note(_event: str, info: Mapping[str, Any]) -> None:
    """Of the events of a connection (httpx's ``trace`` extension), those that give a stream: opened, made TLS."""
    find = getattr(info.get("return_value"), "get_extra_info", None)
    if find:
        note_connection(find("socket"), is_new_request=False)
