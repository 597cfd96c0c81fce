"""The SDK's HTTP client, of which calls can be bounded."""

from __future__ import annotations

import httpx2
from anthropic import DefaultHttpxClient

from bot.adapters.http.httpx_trace import track_connections

# a connection that is used again does not say so before it answers; opening one takes a small part of a second,
# of the seconds that an answer takes
_NO_KEEPALIVE = httpx2.Limits(max_connections=1_000, max_keepalive_connections=0)


def make_tracking_client() -> httpx2.Client:
    """A client that says over which connection each request goes."""
    client = DefaultHttpxClient(limits=_NO_KEEPALIVE)
    track_connections(client)
    return client
