"""What the clients of httpx know of certificates."""

from __future__ import annotations

import ssl
from functools import cache

import httpx2


@cache
def get_tls_context() -> ssl.SSLContext:
    """Return the context of all clients, which trusts the authorities of the system or of ``SSL_CERT_FILE``.

    There is one for the process: to read some hundred certificates takes longer than all else that a client needs.
    """
    return httpx2.create_ssl_context()
