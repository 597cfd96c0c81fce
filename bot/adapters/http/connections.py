"""Connections of ``http.client``, under requests and urllib, that say which socket a request goes over."""

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
    """Put before a connection class: notes its socket when it is opened, and again for each further request."""

    sock: socket.socket | None

    def connect(self) -> None:
        """Open it."""
        super().connect()  # type: ignore[misc]
        self._note()

    def putrequest(self, *arguments: Any, **named: Any) -> None:
        """Begin a request."""
        self._note()
        super().putrequest(*arguments, **named)  # type: ignore[misc]

    def _note(self) -> None:
        if self.sock is not None:
            note_connection(self.sock)


class _Plain(Noting, HTTPConnection):
    pass


class _Secure(Noting, HTTPSConnection):
    pass


class _PlainHandler(HTTPHandler):
    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_Plain, req)


class _SecureHandler(HTTPSHandler):
    def __init__(self) -> None:
        super().__init__()
        self._given = ssl.create_default_context()

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_Secure, req, context=self._given)


class _NoRedirects(HTTPRedirectHandler):
    """Takes an address elsewhere for the error that it is: Slack gives none, and its token is for nobody else."""

    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        """Follow none."""


@cache
def noting_opener(proxy: str | None = None) -> OpenerDirector:
    """What opens addresses for urllib. ``proxy`` is for all; without it, the environment says through which."""
    proxies = ProxyHandler({"http": proxy, "https": proxy} if proxy else None)
    return build_opener(proxies, _PlainHandler, _SecureHandler, _NoRedirects)


class _PooledPlain(Noting, urllib3.connection.HTTPConnection):
    pass


class _PooledSecure(Noting, urllib3.connection.HTTPSConnection):
    pass


class _PlainPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _PooledPlain


class _SecurePool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _PooledSecure


class NotingAdapter(requests.adapters.HTTPAdapter):
    """For requests: its pools are of such connections, through a proxy too."""

    def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
        """Make the pools."""
        super().init_poolmanager(*arguments, **named)
        _teach(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **named: Any) -> PoolManager:
        """Make those of a proxy."""
        found: PoolManager = super().proxy_manager_for(proxy, **named)
        _teach(found)
        return found


def _teach(pools: PoolManager) -> None:
    pools.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}
