"""Access to the page: for a browser on this machine that has the address with the token, and for no other site."""

from __future__ import annotations

from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from localslack.loopback import Request, Response

_TOKEN = "token"  # noqa: S105 (its name in the address)


class Access:
    """Access control of the page at ``url`` by the ``token`` in the address that ``command`` printed.

    Other users of the machine can reach the port too, and the bot's messages are not for them. A browser keeps the
    token as a cookie, so that only the first address contains it.
    """

    def __init__(self, url: str, token: str, command: str) -> None:
        self._url = url
        self._token = token
        self._command = command
        self._port = urlsplit(url).port

    @property
    def address(self) -> str:
        """The address for a visitor to open."""
        return f"{self._url}/?{_TOKEN}={self._token}"

    def find_refusal(self, request: Request) -> str:
        """Return why the request is refused; empty if it is a visitor's."""
        if not self._is_from_here(request):
            return "This page answers to the browser of this machine only."
        if not self._has_token(request):
            return f"Open the address that `{self._command}` printed: it holds the token of this page."
        return ""

    def redirect_newcomer(self, request: Request) -> Response | None:
        """Return a redirect that sets the cookie for a visitor with the first address; None for all others."""
        if request.method != "GET" or request.path != "/" or _TOKEN not in request.query:
            return None
        # Lax, not Strict: a link from a terminal in the browser counts as a request from another site
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Lax"
        return Response(303, headers={"Location": "/", "Set-Cookie": cookie, "Cache-Control": "no-store"})

    @property
    def _cookie(self) -> str:
        # a browser shares cookies between all ports of a host
        return f"localslack-{self._port}"

    def _is_from_here(self, request: Request) -> bool:
        """Return whether a browser asks for this page by its own name and, for a POST, from this page."""
        hosts = {f"{name}:{self._port}" for name in ("127.0.0.1", "localhost")}
        if request.headers.get("host") not in hosts:
            return False
        if request.method != "POST":
            return True
        origin = request.headers.get("origin")
        kind = request.headers.get("content-type", "").partition(";")[0]
        return kind == "application/json" and origin in {None, *(f"http://{host}" for host in hosts)}

    def _has_token(self, request: Request) -> bool:
        presented = request.query.get(_TOKEN) or self._read_cookie(request.headers.get("cookie", ""))
        return compare_digest(presented.encode(), self._token.encode())

    def _read_cookie(self, cookies: str) -> str:
        try:
            morsel = SimpleCookie(cookies).get(self._cookie)
        except CookieError:
            return ""
        return morsel.value if morsel else ""
