"""Which proxy of the environment a request may take: one that sees neither its token nor its text."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from bot.errors import ConfigurationError
from bot.settings.values import is_private_host

_NO_SOCKS = (
    "The environment names a SOCKS proxy, which prdigest can't use: set HTTPS_PROXY to an HTTP proxy, or name the "
    "servers in NO_PROXY."
)


def find_proxy(address: str) -> str | None:
    """Return the proxy of the environment for a request, None if it goes without one.

    What is not encrypted goes without, and so do servers on this machine and in its network: keys and code would
    reach whoever runs the proxy. Raises ConfigurationError for a SOCKS proxy.
    """
    parts = urlsplit(address)
    host = (parts.hostname or "").rstrip(".")
    if (
        parts.scheme not in ("https", "wss")
        or is_private_host(host)
        or proxy_bypass(parts.netloc.rpartition("@")[2])
    ):
        return None
    proxies = getproxies()
    proxy = proxies.get("https") or proxies.get("all")
    if proxy and proxy.lower().startswith("socks"):
        raise ConfigurationError(_NO_SOCKS)
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"
