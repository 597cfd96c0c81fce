"""Clients of httpx: their certificates, and deadlines for their calls."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from functools import cache
from typing import Any

import httpx2

from bot.platform.http.bounded_calls import register_connection
from bot.platform.http.connections import find_proxy

# the use of a kept connection is not reported before it answers, so a tracked client keeps none; opening one takes
# a small part of the seconds that an answer takes
NO_KEEPALIVE = httpx2.Limits(max_connections=1_000, max_keepalive_connections=0)


@cache
def get_tls_context() -> ssl.SSLContext:
    """Return the one context, trusting the system or ``SSL_CERT_FILE``: to read its certificates takes long."""
    return httpx2.create_ssl_context()


def build_client_options(address: str) -> dict[str, Any]:
    """Return what all clients of a server are made with: nothing of the environment but a proxy that is safe."""
    return {
        "verify": get_tls_context(),
        "follow_redirects": False,
        "trust_env": False,
        "proxy": find_proxy(address),
    }


def track_connections(client: httpx2.Client) -> None:
    """Register the connections that the client opens from now on, for the deadline of the current call."""
    client.event_hooks = {"request": [_request_trace]}


def _request_trace(request: httpx2.Request) -> None:
    request.extensions["trace"] = _register_traced


def _register_traced(_event: str, info: Mapping[str, Any]) -> None:
    """Register the socket of an event of httpx's ``trace`` extension that returns a stream, plain or TLS."""
    get_info = getattr(info.get("return_value"), "get_extra_info", None)
    if get_info:
        register_connection(get_info("socket"), is_new_request=False)
