"""The ways in which requests come in: Slack's over HTTP or Socket Mode, and health checks of the operator."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from flask import Flask, Response, make_response, request
from flask.typing import ResponseReturnValue
from slack_bolt import App as Bolt
from slack_bolt.adapter.flask.handler import to_bolt_request, to_flask_response
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.adapter.socket_mode.internals import build_headers, send_response
from slack_bolt.request import BoltRequest
from slack_sdk import WebClient
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from bot.app import App
from bot.errors import PrdigestError, UsageError
from bot.platform.metrics import Instruments, RequestRecord, count_request
from bot.platform.slack.client import translate_slack_errors
from bot.platform.tracing import trace_request
from bot.settings import require_secret
from handlers import register_listeners
from handlers.declaration import Commands, parse_message
from handlers.payloads import PARSE_ERRORS, PayloadError, check_payload, describe_parse_error

log = logging.getLogger(__name__)

# the largest requests of Slack have some tens of kilobytes
MAX_REQUEST_BYTES = 1_000_000
_LISTENER_THREADS = 16  # requests handled at the same time
_REFUSED_REQUEST_MESSAGE = "a request that can't be used: %s"
# seconds; a connection that is lost silently is noticed after about six of them: a minute with the default of ten
_PING_INTERVAL = 1
_APP_TOKEN_HINT = "SLACK_APP_TOKEN to an app-level token (xapp-…) with connections:write"  # noqa: S105 (its name)
# Bolt reads the environment too. With the first two, which are often copied from the app's settings, it would
# ignore the token.
_VARIABLES_HIDDEN_FROM_BOLT = ("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET", "SLACK_BOT_TOKEN")


def create_bolt_app(client: WebClient, app: App, commands: Commands) -> Bolt:
    """Create Bolt with every listener. It answers Slack when a listener has returned, so that the job is durable.

    Senders were verified before: by signature or by Socket Mode. Raises SlackCallRefused, SlackUnavailable.
    """
    bolt = _create_bare_bolt(client)
    register_listeners(bolt, app, commands)

    def log_failure(error: Exception) -> None:
        """Log why a delivery gets no acknowledgement; Bolt answers 500, and Slack delivers an event again."""
        if isinstance(error, PrdigestError):
            log.warning("a delivery is not taken: %s", error)
        else:
            log.error("a delivery is not taken, which is a defect", exc_info=error)

    bolt.error(log_failure)
    return bolt


def _create_bare_bolt(client: WebClient) -> Bolt:
    for name in _VARIABLES_HIDDEN_FROM_BOLT:
        os.environ.pop(name, None)
    with translate_slack_errors():
        # without a name, Bolt reads the sources of the whole call stack for one: a third of a second at each start
        return Bolt(
            name="prdigest", client=client, process_before_response=True, request_verification_enabled=False
        )


@contextmanager
def receive_direct_messages(app: App, receive: Callable[[str, str], None]) -> Iterator[None]:
    """Call ``receive`` with channel and text of each direct message that people who may ask write, for a set-up.

    Raises ConfigurationError without an app token, SlackCallRefused, SlackUnavailable.
    """
    bolt = _create_bare_bolt(app.slack)

    @bolt.event("message")
    def handle_message(event: dict[str, Any]) -> None:
        with suppress(UsageError):
            asker = app.identify(parse_message(event))
            if event.get("channel_type") == "im" and not app.access_control.explain_exclusion(asker):
                receive(asker.channel, str(event.get("text") or ""))

    token = require_secret(app.settings.slack_app_token, "SLACK_APP_TOKEN", _APP_TOKEN_HINT)
    with connect_socket_mode(bolt, token, app.instruments):
        yield


def create_web_app(is_ready: Callable[[], bool]) -> Flask:
    """Create the app with ``/healthz`` (the process is alive) and ``/readyz`` (it can handle requests)."""
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = MAX_REQUEST_BYTES

    @app.get("/healthz")
    def healthz() -> ResponseReturnValue:
        return {"ok": True}

    @app.get("/readyz")
    def readyz() -> ResponseReturnValue:
        return ({"ok": True}, 200) if is_ready() else ({"ok": False}, 503)

    return app


def add_events_route(app: Flask, bolt: Bolt, signing_secret: str, instruments: Instruments) -> None:
    """Add the route ``/slack/events`` for requests that Slack has signed."""
    # a request with a valid signature that is no request of Slack gets a 400, and a line in the log
    verifier = SignatureVerifier(signing_secret)

    @app.post("/slack/events")
    def events() -> ResponseReturnValue:
        with trace_request("http"), count_request(instruments, "http") as record:
            response = _answer_event(bolt, verifier, record)
            record.note_status(response.status_code)
        return response


def _answer_event(bolt: Bolt, verifier: SignatureVerifier, record: RequestRecord) -> Response:
    try:
        # of a body that is no UTF-8, as Slack writes it, not even the signature can be checked
        try:
            request.get_data().decode()
        except UnicodeDecodeError as error:
            raise PayloadError(describe_parse_error(error)) from error
        try:
            # it is not older than five minutes
            is_from_slack = verifier.is_valid_request(request.get_data(), dict(request.headers))
        except (ValueError, TypeError, OverflowError):
            # a timestamp that is no number or out of range, or a body or signature that is not text
            is_from_slack = False
        if not is_from_slack:
            return make_response("", 401)
        bolt_request = _parse_request(lambda: to_bolt_request(request))
        record.note_payload(bolt_request.body)
        return to_flask_response(bolt.dispatch(bolt_request))
    except PayloadError as error:
        log.warning(_REFUSED_REQUEST_MESSAGE, error)
        return make_response("", 400)


def _parse_request(parse: Callable[[], BoltRequest]) -> BoltRequest:
    """Parse a request into a form that every listener can handle. Raises PayloadError if it is not usable."""
    try:
        bolt_request = parse()
    except PARSE_ERRORS as error:
        # Bolt parses the JSON here and looks for the user
        raise PayloadError(describe_parse_error(error)) from error
    check_payload(bolt_request.body)
    return bolt_request


class _ValidatingSocketModeHandler(SocketModeHandler):
    def __init__(self, *arguments: Any, instruments: Instruments, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._instruments = instruments

    def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]
        with trace_request("socket"), count_request(self._instruments, "socket") as record:
            start = time.time()
            try:
                bolt_request = _parse_request(
                    lambda: BoltRequest(mode="socket_mode", body=req.payload, headers=build_headers(req))
                )
            except PayloadError as error:
                log.warning(_REFUSED_REQUEST_MESSAGE, error)
                client.send_socket_mode_response(SocketModeResponse(envelope_id=req.envelope_id))
                record.result = "refused"
            else:
                record.note_payload(bolt_request.body)
                response = self.app.dispatch(bolt_request)
                send_response(client, req, response, start)
                record.note_status(response.status)


@contextmanager
def connect_socket_mode(bolt: Bolt, app_token: str, instruments: Instruments) -> Iterator[Callable[[], bool]]:
    """Open the connection for requests without a public address. Yield a function that says whether it is open.

    The connection reopens by itself when Slack closes it. Raises SlackCallRefused, SlackUnavailable: it can't be
    opened.
    """
    handler = _ValidatingSocketModeHandler(
        bolt, app_token, concurrency=_LISTENER_THREADS, ping_interval=_PING_INTERVAL, instruments=instruments
    )
    try:
        with translate_slack_errors(token=_APP_TOKEN_HINT):
            handler.connect()  # type: ignore[no-untyped-call]
        yield handler.client.is_connected
    finally:
        handler.close()  # type: ignore[no-untyped-call]
