"""Which proxy of the environment a request may take: one that sees neither its token nor its text."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from bot.errors import ConfigurationError

_OWN_NAMES = ("localhost", ".localhost", ".local", ".internal", ".lan", ".svc", ".home.arpa")
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
    if parts.scheme not in ("https", "wss") or _is_near(host) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get("https") or proxies.get("all")
    if proxy and proxy.lower().startswith("socks"):
        raise ConfigurationError(_NO_SOCKS)
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


def _is_near(host: str) -> bool:
    """Return whether a host is this machine or in its network; a name without a dot is resolved there."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_OWN_NAMES)
