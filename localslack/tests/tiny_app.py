"""A tiny Bolt app for the tests of the emulator itself, behind HTTP or Socket Mode."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from slack_bolt import Ack, App, BoltRequest, Respond
from slack_bolt.adapter.socket_mode import SocketModeHandler

from localslack.loopback import Loopback, Request, Response
from localslack.state.workspace import Json
from localslack.testing.emulator import SlackEmulator
from localslack.users.transport import Ack as Answer
from tests.client import client_of

SECRET = "signing-secret"


class TinyApp:
    """Keeps what reaches it in ``seen`` as (listener, body)."""

    def __init__(self, slack: SlackEmulator) -> None:
        self.seen: list[tuple[str, Json]] = []
        self.retries: list[str] = []
        self.answer: Json = {}  # to a form that is sent
        self.options: Json = {"options": []}  # for a menu that asks
        self.app = App(client=client_of(slack), signing_secret=SECRET, logger=quiet())
        self.app.command("/echo")(self._echo)
        self.app.command("/json")(self._json)
        self.app.action("vote")(self._vote)
        self.app.event("app_mention")(self._keep("mention"))
        self.app.event("message")(self._keep("message"))
        self.app.event("app_home_opened")(self._keep("home"))
        self.app.view("form")(self._form)
        self.app.view_closed("form")(self._note_closed)
        self.app.options("repo")(self._find)
        self.app.shortcut("explain")(self._shortcut)

    def _echo(self, ack: Ack, body: Json, respond: Respond) -> None:
        self.seen.append(("command", body))
        ack(f"You said {body['text']}")
        respond(text="later")

    def _json(self, ack: Ack) -> None:
        ack({"response_type": "in_channel", "text": "as JSON"})

    def _vote(self, ack: Ack, body: Json) -> None:
        self.seen.append(("vote", body))
        ack()

    def _form(self, ack: Ack, body: Json) -> None:
        self.seen.append(("form", body))
        ack(**self.answer)

    def _note_closed(self, ack: Ack, body: Json) -> None:
        self.seen.append(("closed", body))
        ack()

    def _shortcut(self, ack: Ack, body: Json, respond: Respond) -> None:
        self.seen.append(("shortcut", body))
        ack()
        if "message" in body:
            respond(text=f"It says: {body['message']['text']}")

    def _find(self, ack: Ack, body: Json) -> None:
        self.seen.append(("find", body))
        ack(**self.options)

    def _keep(self, name: str) -> Callable[[Json, BoltRequest], None]:
        def keep(body: Json, request: BoltRequest) -> None:
            self.retries.append(",".join(request.headers.get("x-slack-retry-num", ())))
            self.seen.append((name, body))

        return keep


def quiet() -> logging.Logger:
    """What a refused request is worth in the log is not what is tested."""
    logger = logging.getLogger("tests.tiny")
    logger.setLevel(logging.CRITICAL)
    return logger


@dataclass
class Scripted:
    """A wire to an app that answers everything with the same."""

    body: str | Json = ""
    status: int = 200
    sent: list[Json] = field(default_factory=list)

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Answer:
        self.sent.append(payload)
        return Answer(self.status, self.body, 0.0)


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
def connect_app(app: App, slack: SlackEmulator, ping_interval: float = 0.2) -> Iterator[SocketModeHandler]:
    """The app in Socket Mode, once it is there to take events."""
    before = slack.socket.connections
    handler = SocketModeHandler(app, slack.app_token, ping_interval=ping_interval, logger=quiet())
    try:
        handler.client.connect()
        slack.socket.wait_for_connections(before + 1)
        yield handler
    finally:
        # wakes the client's queue, which it would wait on for a second
        handler.client.closed = True
        handler.client.message_queue.put(None)
        handler.client.close()
