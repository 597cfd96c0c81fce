"""The HTTP face: Slack's requests, and health for whoever runs it."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask, request
from flask.typing import ResponseReturnValue
from slack_bolt import App
from slack_bolt.adapter.flask import SlackRequestHandler
from slack_sdk import WebClient

from handlers import Commands, register


def bolt_app(client: WebClient, signing_secret: str, commands: Commands) -> App:
    """Bolt with every listener. It answers Slack only when a listener is through, so that the job is durable."""
    app = App(client=client, signing_secret=signing_secret, process_before_response=True)
    register(app, commands)
    return app


def web_app(bolt: App, is_ready: Callable[[], bool]) -> Flask:
    """Routes: ``/slack/events`` for Slack, ``/healthz`` (the process lives), ``/readyz`` (the store answers)."""
    app = Flask(__name__)
    handler = SlackRequestHandler(bolt)

    @app.post("/slack/events")
    def events() -> ResponseReturnValue:
        return handler.handle(request)

    @app.get("/healthz")
    def healthz() -> ResponseReturnValue:
        return {"ok": True}

    @app.get("/readyz")
    def readyz() -> ResponseReturnValue:
        return ({"ok": True}, 200) if is_ready() else ({"ok": False, "store": "does not answer"}, 503)

    return app
