"""HTTP client of the SDK, with calls that can be bounded."""

from __future__ import annotations

import httpx2
from anthropic import DefaultHttpxClient

from bot.platform.http.httpx_clients import get_tls_context, track_connections

# the use of a kept connection is not reported before it answers; opening one takes a small part of the seconds
# that an answer takes
_NO_KEEPALIVE = httpx2.Limits(max_connections=1_000, max_keepalive_connections=0)


def make_tracking_client() -> httpx2.Client:
    """Create a client that registers the connection of each request.

    A redirect is an error: the service sends none, and the next host would get the key or the prompt.
    """
    client = DefaultHttpxClient(limits=_NO_KEEPALIVE, verify=get_tls_context(), follow_redirects=False)
    track_connections(client)
    return client
