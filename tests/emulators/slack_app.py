"""A tiny Bolt app for the tests of the emulator itself, behind HTTP or Socket Mode."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from slack_bolt import Ack, App, BoltRequest, Respond
from slack_bolt.adapter.socket_mode import SocketModeHandler

from tests.emulators.loopback import Loopback, Request, Response
from tests.emulators.slack import SlackEmulator
from tests.emulators.slack_client import client_of
from tests.emulators.slack_store import Json

SECRET = "signing-secret"


class TinyApp:
    """Keeps what reaches it in ``seen`` as (listener, body)."""

    def __init__(self, slack: SlackEmulator) -> None:
        self.seen: list[tuple[str, Json]] = []
        self.retries: list[str] = []
        self.app = App(client=client_of(slack), signing_secret=SECRET, logger=quiet())
        self.app.command("/echo")(self._echo)
        self.app.command("/json")(self._json)
        self.app.action("vote")(self._vote)
        self.app.event("app_mention")(self._keep("mention"))
        self.app.event("message")(self._keep("message"))

    def _echo(self, ack: Ack, body: Json, respond: Respond) -> None:
        self.seen.append(("command", body))
        ack(f"You said {body['text']}")
        respond(text="later")

    def _json(self, ack: Ack) -> None:
        ack({"response_type": "in_channel", "text": "as JSON"})

    def _vote(self, ack: Ack, body: Json) -> None:
        self.seen.append(("vote", body))
        ack()

    def _keep(self, name: str) -> Callable[[Json, BoltRequest], None]:
        def keep(body: Json, request: BoltRequest) -> None:
            self.retries.append(",".join(request.headers.get("x-slack-retry-num", ())))
            self.seen.append((name, body))

        return keep


def quiet() -> logging.Logger:
    """What a refused request is worth in the log is not what is tested."""
    found = logging.getLogger("tests.tiny")
    found.setLevel(logging.CRITICAL)
    return found


class BoltServer(Loopback):
    """An app where Slack's HTTP requests arrive."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app

    def handle(self, request: Request) -> Response:
        headers: dict[str, str | Sequence[str]] = dict(request.headers)
        answer = self._app.dispatch(BoltRequest(body=request.body.decode(), headers=headers))
        return Response(answer.status, answer.body.encode(), {k: v[0] for k, v in answer.headers.items()})


@contextmanager
def connected(app: App, slack: SlackEmulator, ping_interval: float = 0.2) -> Iterator[SocketModeHandler]:
    """The app in Socket Mode, once it is there to take events."""
    before = slack.socket.connections
    handler = SocketModeHandler(app, slack.app_token, ping_interval=ping_interval, logger=quiet())
    try:
        handler.client.connect()
        slack.socket.wait(before + 1)
        yield handler
    finally:
        # wakes the client's queue, which it would wait on for a second
        handler.client.closed = True
        handler.client.message_queue.put(None)
        handler.client.close()
