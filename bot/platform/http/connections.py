"""Connections of ``http.client`` that register the socket of each request, and the proxies that these may take."""

from __future__ import annotations

import socket
import ssl
from functools import cache
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
    getproxies,
    proxy_bypass,
)

import requests
import urllib3
from urllib3 import PoolManager

from bot.errors import ConfigurationError
from bot.platform.http.bounded_calls import register_connection
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


class TrackedConnection:
    """Mixin for connection classes: registers the socket when it is opened, and again for each further request."""

    sock: socket.socket | None

    def connect(self) -> None:
        super().connect()  # type: ignore[misc]
        register_connection(self.sock)

    def putrequest(self, *arguments: Any, **keywords: Any) -> None:
        register_connection(self.sock)
        super().putrequest(*arguments, **keywords)  # type: ignore[misc]


class _TrackedHTTPConnection(TrackedConnection, HTTPConnection):
    """Tracked connection of ``http.client`` over HTTP."""


class _TrackedHTTPSConnection(TrackedConnection, HTTPSConnection):
    """Tracked connection of ``http.client`` over HTTPS."""


class _TrackedHTTPHandler(HTTPHandler):
    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_TrackedHTTPConnection, req)


class _TrackedHTTPSHandler(HTTPSHandler):
    def __init__(self) -> None:
        super().__init__()
        self._context = ssl.create_default_context()

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_TrackedHTTPSConnection, req, context=self._context)


class _NoRedirectHandler(HTTPRedirectHandler):
    """Handler that treats each redirect as an error. Slack sends none, and its token must go nowhere else."""

    def redirect_request(self, *_arguments: Any, **_keywords: Any) -> None:
        """Follow no redirect."""


class _ProxyHandler(ProxyHandler):
    """Handler that takes a proxy of the environment where that is safe."""

    def __init__(self) -> None:
        super().__init__({"https": ""})

    def proxy_open(self, req: Request, proxy: str, type: str) -> Any:  # noqa: A002 (the name is the base class's)
        address = find_proxy(req.full_url)
        return super().proxy_open(req, address, type) if address else None


@cache
def make_tracking_opener() -> OpenerDirector:
    return build_opener(_ProxyHandler, _TrackedHTTPHandler, _TrackedHTTPSHandler, _NoRedirectHandler)


class _PooledHTTPConnection(TrackedConnection, urllib3.connection.HTTPConnection):
    """Tracked connection of urllib3 over HTTP."""


class _PooledHTTPSConnection(TrackedConnection, urllib3.connection.HTTPSConnection):
    """Tracked connection of urllib3 over HTTPS."""


class _TrackedHTTPPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _PooledHTTPConnection


class _TrackedHTTPSPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _PooledHTTPSConnection


class TrackingAdapter(requests.adapters.HTTPAdapter):
    """Adapter for requests with pools of tracked connections, also through a proxy where that is safe."""

    def send(self, request: requests.PreparedRequest, *arguments: Any, **keywords: Any) -> requests.Response:
        proxy = find_proxy(request.url or "")
        return super().send(request, *arguments, **{**keywords, "proxies": {"https": proxy} if proxy else {}})

    def init_poolmanager(self, *arguments: Any, **keywords: Any) -> None:
        super().init_poolmanager(*arguments, **keywords)
        _set_pool_classes(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **keywords: Any) -> PoolManager:
        manager: PoolManager = super().proxy_manager_for(proxy, **keywords)
        _set_pool_classes(manager)
        return manager


def _set_pool_classes(pools: PoolManager) -> None:
    pools.pool_classes_by_scheme = {"http": _TrackedHTTPPool, "https": _TrackedHTTPSPool}
