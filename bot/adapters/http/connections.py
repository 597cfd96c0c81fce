"""Connections of ``http.client``, for requests and urllib, that register the socket of each request."""

from __future__ import annotations

import socket
import ssl
from functools import cache
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

import requests
import urllib3
from urllib3 import PoolManager

from bot.adapters.http.bounded_calls import note_connection


class Noting:
    """Mixin for connection classes: registers the socket when it is opened, and again for each further request."""

    sock: socket.socket | None

    def connect(self) -> None:
        """Open the connection."""
        super().connect()  # type: ignore[misc]
        self._note()

    def putrequest(self, *arguments: Any, **named: Any) -> None:
        """Begin a request."""
        self._note()
        super().putrequest(*arguments, **named)  # type: ignore[misc]

    def _note(self) -> None:
        """Register the socket if it is open."""
        if self.sock is not None:
            note_connection(self.sock)


class _Plain(Noting, HTTPConnection):
    """Tracked connection of ``http.client`` over HTTP."""


class _Secure(Noting, HTTPSConnection):
    """Tracked connection of ``http.client`` over HTTPS."""


class _PlainHandler(HTTPHandler):
    """Handler of urllib for tracked HTTP connections."""

    def http_open(self, req: Request) -> HTTPResponse:
        """Open an HTTP address."""
        return self.do_open(_Plain, req)


class _SecureHandler(HTTPSHandler):
    """Handler of urllib for tracked HTTPS connections."""

    def __init__(self) -> None:
        super().__init__()
        self._given = ssl.create_default_context()

    def https_open(self, req: Request) -> HTTPResponse:
        """Open an HTTPS address."""
        return self.do_open(_Secure, req, context=self._given)


class _NoRedirects(HTTPRedirectHandler):
    """Handler that treats each redirect as an error. Slack sends none, and its token must go nowhere else."""

    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        """Follow no redirect."""


@cache
def noting_opener(proxy: str | None = None) -> OpenerDirector:
    """Create an opener for urllib that tracks its connections.

    ``proxy`` is the address of a proxy for all requests; without it the environment decides.
    """
    proxies = ProxyHandler({"http": proxy, "https": proxy} if proxy else None)
    return build_opener(proxies, _PlainHandler, _SecureHandler, _NoRedirects)


class _PooledPlain(Noting, urllib3.connection.HTTPConnection):
    """Tracked connection of urllib3 over HTTP."""


class _PooledSecure(Noting, urllib3.connection.HTTPSConnection):
    """Tracked connection of urllib3 over HTTPS."""


class _PlainPool(urllib3.HTTPConnectionPool):
    """Pool of tracked HTTP connections."""

    ConnectionCls = _PooledPlain


class _SecurePool(urllib3.HTTPSConnectionPool):
    """Pool of tracked HTTPS connections."""

    ConnectionCls = _PooledSecure


class NotingAdapter(requests.adapters.HTTPAdapter):
    """Adapter for requests with pools of tracked connections, also through a proxy."""

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        """Create the pools."""
        super().init_poolmanager(*arguments, **named)
        _teach(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **named: Any) -> PoolManager:
        """Create the pools of a proxy."""
        manager: PoolManager = super().proxy_manager_for(proxy, **named)
        _teach(manager)
        return manager


def _teach(pools: PoolManager) -> None:
    """Make a pool manager create tracked connections."""
    pools.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}
