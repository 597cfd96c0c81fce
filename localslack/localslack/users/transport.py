"""The transport from Slack to an app: signed HTTP requests."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Protocol
from urllib.parse import urlencode, urlsplit

from localslack.state.workspace import Json

TIMEOUT = 3.0  # seconds that Slack waits for an app
FORM, JSON = "application/x-www-form-urlencoded", "application/json"


@dataclass(frozen=True)
class Ack:
    """The app's answer to a delivery: ``status`` 0 and no body if it did not come in time.

    Over Socket Mode the status is always 200, and the body is the payload of the answer.
    """

    status: int
    body: str | Json
    seconds: float

    @property
    def text(self) -> str:
        """The text that the person reads: the same over both transports."""
        return str(self.body.get("text", "")) if isinstance(self.body, dict) else self.body


class Transport(Protocol):
    """A transport of payloads to the app."""

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Ack:
        """Deliver slash_commands, events_api or interactive; ``retry`` counts the deliveries before this one."""


@dataclass(frozen=True)
class HttpTransport:
    """A transport of HTTP requests to ``url`` with Slack's signature, dated ``age`` seconds ago.

    It waits ``patience`` seconds for an answer.
    """

    url: str
    signing_secret: str
    now: Callable[[], float] = time.time
    age: float = 0.0
    patience: float = TIMEOUT

    def send(
        self, kind: str, payload: Json, *, retry: int = 0, secret: str | None = None, age: float | None = None
    ) -> Ack:
        """Deliver a payload. Another ``secret`` forges the request, a great ``age`` makes it stale."""
        body, content_type = encode_request(kind, payload)
        # Slack's most frequent reason
        again = {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": "http_timeout"} if retry else {}
        signed = self.sign(body, secret=secret, age=age)
        return self.post(body, {"Content-Type": content_type, **signed, **again})

    def sign(self, body: bytes, *, secret: str | None = None, age: float | None = None) -> dict[str, str]:
        """Return the headers with the time and the signature of the body."""
        stamp = str(int(self.now() - (self.age if age is None else age)))
        key = (self.signing_secret if secret is None else secret).encode()
        digest = hmac.new(key, b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}

    def post(self, body: bytes, headers: dict[str, str]) -> Ack:
        """Send any request without changing it."""
        url, started = urlsplit(self.url), time.monotonic()
        connection = HTTPConnection(url.hostname or "", url.port, timeout=self.patience)
        try:
            connection.request("POST", url.path or "/", body, {"User-Agent": "Slackbot 1.0", **headers})
            with connection.getresponse() as answer:
                content = decode_answer(answer.read(), answer.getheader("Content-Type") or "")
                return Ack(answer.status, content, time.monotonic() - started)
        except (OSError, HTTPException):
            return Ack(0, "", time.monotonic() - started)
        finally:
            connection.close()


def encode_request(kind: str, payload: Json) -> tuple[bytes, str]:
    """Return the body of a request and its type: JSON for events, forms for all else."""
    if kind == "events_api":
        return json.dumps(payload).encode(), JSON
    fields = {"payload": json.dumps(payload)} if kind == "interactive" else payload
    return urlencode(fields).encode(), FORM


def decode_answer(body: bytes, content_type: str) -> str | Json:
    """Return the body of an answer: text, or an object if it is JSON."""
    if not content_type.startswith(JSON):
        return body.decode()
    value = json.loads(body or b'""')
    return value if isinstance(value, dict) else str(value)
