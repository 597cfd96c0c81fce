"""Who may use the page: a browser of this machine that was given its address, and no other site in it."""

from __future__ import annotations

from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from localslack.loopback import Request, Response

_TOKEN = "token"  # noqa: S105 (its name in the address)


class Access:
    """Knows the page by its ``url`` and its visitors by the ``token`` in the address that ``command`` printed.

    Other people of the machine can reach the port too, and what a bot says is not theirs. A browser keeps
    the token as a cookie, so that it stands in no address but the first.
    """

    def __init__(self, url: str, token: str, command: str) -> None:
        self._url = url
        self._token = token
        self._command = command
        self._port = urlsplit(url).port

    @property
    def address(self) -> str:
        """What a visitor opens."""
        return f"{self._url}/?{_TOKEN}={self._token}"

    def find_refusal(self, request: Request) -> str:
        """Return why a request is none of a visitor's; empty if it is one."""
        if not self._is_from_here(request):
            return "This page answers to the browser of this machine only."
        if not self._has_token(request):
            return f"Open the address that `{self._command}` printed: it holds the token of this page."
        return ""

    def redirect_newcomer(self, request: Request) -> Response | None:
        """Return the way on for who comes with the first address; None for everybody else."""
        if request.method != "GET" or request.path != "/" or _TOKEN not in request.query:
            return None
        # Lax, not Strict: whoever follows a link from a terminal in the browser comes from another site
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Lax"
        return Response(303, headers={"Location": "/", "Set-Cookie": cookie, "Cache-Control": "no-store"})

    @property
    def _cookie(self) -> str:
        # a browser has the same cookies for all ports of a host
        return f"localslack-{self._port}"

    def _is_from_here(self, request: Request) -> bool:
        """Return whether a browser asks for this page by its name, and posts from it."""
        hosts = {f"{name}:{self._port}" for name in ("127.0.0.1", "localhost")}
        if request.headers.get("host") not in hosts:
            return False
        if request.method != "POST":
            return True
        origin = request.headers.get("origin")
        kind = request.headers.get("content-type", "").partition(";")[0]
        return kind == "application/json" and origin in {None, *(f"http://{host}" for host in hosts)}

    def _has_token(self, request: Request) -> bool:
        shown = request.query.get(_TOKEN) or self._read_cookie(request.headers.get("cookie", ""))
        return compare_digest(shown.encode(), self._token.encode())

    def _read_cookie(self, cookies: str) -> str:
        try:
            found = SimpleCookie(cookies).get(self._cookie)
        except CookieError:
            return ""
        return found.value if found else ""
