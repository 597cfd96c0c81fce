"""How requests reach the listeners: Slack's over HTTP or Socket Mode, and health for whoever runs it."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flask import Flask, Request, request
from flask.typing import ResponseReturnValue
from slack_bolt import App
from slack_bolt.adapter.flask.handler import to_bolt_request, to_flask_response
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.socket_mode.internals import build_headers, send_response
from slack_bolt.request import BoltRequest
from slack_sdk import WebClient
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from bot.adapters.slack import translate_slack_errors
from handlers import CommandRegistry, RequestIntake, register
from handlers.payloads import UNREADABLE, BadPayload, check, unreadable

log = logging.getLogger(__name__)

# the largest request of Slack's is some tens of kilobytes
MOST_BYTES = 1_000_000
_LISTENERS = 16  # requests taken at a time
_REFUSED = "a request that can't be used: %s"
# seconds; a connection that ended without a word is noticed after about six of them, a minute with the usual ten
_PING = 1
_NAME = "prdigest"
_APP_TOKEN = "SLACK_APP_TOKEN to an app-level token (xapp-…) with connections:write"  # noqa: S105 (its name)
# Bolt reads the environment too. With the first two, as app settings are often copied, it would ignore the token.
_NOT_FOR_BOLT = ("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET", "SLACK_BOT_TOKEN")


def bolt_app(client: WebClient, intake: RequestIntake, commands: CommandRegistry) -> App:
    """Bolt with every listener. It answers Slack only when a listener is through, so that the job is durable.

    Who is at the door was checked before: by signature over HTTP, by Slack itself in Socket Mode.

    Raises:
        SlackRefused, SlackUnavailable: the token is not accepted.
    """
    for name in _NOT_FOR_BOLT:
        os.environ.pop(name, None)
    with translate_slack_errors():
        # without a name, Bolt reads the sources of the whole call stack for one: a third of a second at each start
        app = App(name=_NAME, client=client, process_before_response=True, request_verification_enabled=False)
    register(app, intake, commands)
    return app


def web_app(is_ready: Callable[[], bool]) -> Flask:
    """Routes: ``/healthz`` (the process lives) and ``/readyz`` (it can take requests)."""
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES

    @app.get("/healthz")
    def healthz() -> ResponseReturnValue:
        return {"ok": True}

    @app.get("/readyz")
    def readyz() -> ResponseReturnValue:
        return ({"ok": True}, 200) if is_ready() else ({"ok": False}, 503)

    return app


def add_events(app: Flask, bolt: App, signing_secret: str) -> None:
    """One more route: ``/slack/events``, for requests that Slack has signed.

    What is signed and yet no request of Slack's is a 400 and a line in the log.
    """
    verifier = SignatureVerifier(signing_secret)

    @app.post("/slack/events")
    def events() -> ResponseReturnValue:
        try:
            _require_text(request.get_data())
            if not _is_from_slack(request, verifier):
                return "", 401
            return to_flask_response(bolt.dispatch(_read(lambda: to_bolt_request(request))))
        except BadPayload as error:
            log.warning(_REFUSED, error)
            return "", 400


def _require_text(body: bytes) -> None:
    """Slack writes UTF-8; the signature of anything else can't even be looked at."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise BadPayload(unreadable(error)) from error


def _read(parse: Callable[[], BoltRequest]) -> BoltRequest:
    """A request that every listener can work on. Raises BadPayload."""
    try:
        asked = parse()
    except UNREADABLE as error:
        # Bolt reads the JSON here, and looks for who asks
        raise BadPayload(unreadable(error)) from error
    check(asked.body)
    return asked


def _is_from_slack(received: Request, verifier: SignatureVerifier) -> bool:
    """Whether the signature is Slack's and not older than five minutes."""
    try:
        return verifier.is_valid_request(received.get_data(), dict(received.headers))
    except (ValueError, TypeError, OverflowError):
        # a time that is no number or no time, a body or a signature that is no text
        return False


class _CheckedSocket(SocketModeHandler):
    """Takes what Slack sends through the connection, acknowledges what can't be used and drops it."""

    def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]
        began = time.time()
        try:
            asked = _read(lambda: BoltRequest(mode="socket_mode", body=req.payload, headers=build_headers(req)))
        except BadPayload as error:
            log.warning(_REFUSED, error)
            client.send_socket_mode_response(SocketModeResponse(envelope_id=req.envelope_id))
        else:
            send_response(client, req, self.app.dispatch(asked), began)


@contextmanager
def socket_mode(bolt: App, app_token: str) -> Iterator[Callable[[], bool]]:
    """The connection over which requests come where no public address is; yields whether it is there.

    It is opened again by itself when Slack closes it.

    Raises:
        SlackRefused, SlackUnavailable: it can't be opened.
    """
    handler = _CheckedSocket(bolt, app_token, concurrency=_LISTENERS, ping_interval=_PING)
    try:
        with translate_slack_errors(token=_APP_TOKEN):
            handler.connect()  # type: ignore[no-untyped-call]
        yield handler.client.is_connected
    finally:
        handler.close()  # type: ignore[no-untyped-call]
