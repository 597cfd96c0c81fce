"""A Slack on the loopback for ``slack_sdk.WebClient(token=..., base_url=emulator.url)``.

What it refuses is in ``slack_limits``, what it remembers in ``slack_store``, what tests do with it in
``slack_team``, ``slack_places`` and ``slack_shows``, the methods of its Web API in ``slack_methods``, Socket Mode
in ``slack_socket`` and the people who use the app in ``slack_people``; here are the server and the ways in which
calls fail.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from tests.emulators.loopback import Request, Response
from tests.emulators.slack_faults import Failure, Faults, Pace, failed, failure
from tests.emulators.slack_files import UPLOAD_PATH, file_content
from tests.emulators.slack_methods import METHODS, Method
from tests.emulators.slack_responses import RESPONSE, RESPONSE_PATH, answer_of, refused
from tests.emulators.slack_store import START, Json, SlackError
from tests.emulators.slack_streaming import STREAM_SECONDS
from tests.emulators.slack_team import SlackTeam
from tests.emulators.slack_triggers import TRIGGER_SECONDS

SCOPES = frozenset(
    "app_mentions:read channels:history channels:read chat:write commands files:read files:write groups:history "
    "groups:read im:history im:read im:write reactions:write users:read".split()
)
UPLOAD = "upload"  # the name that sending a file's bytes has in ``calls`` and for ``fail_next``

Hook = Callable[[str, Json], None]


class SlackEmulator(SlackTeam):
    """One workspace with one bot in it. ``now`` gives the seconds of a message's ts, ``clock`` those of the pace,
    of triggers, streams and statuses.

    ``before`` runs ahead of a call and ``after`` between its effect and its answer, both outside the lock:
    they may wait for other calls, or raise ``HangUp`` to drop the connection there.
    """

    def __init__(
        self,
        token: str = "xoxb-test",  # noqa: S107 (a token of nothing)
        team_id: str = "T0TEAM",
        scopes: frozenset[str] = SCOPES,
        *,
        app_token: str = "xapp-test",  # noqa: S107
        posts_per_second: float | None = None,
        now: Callable[[], float] = lambda: START,
        clock: Callable[[], float] = time.monotonic,
        trigger_seconds: float = TRIGGER_SECONDS,
        stream_seconds: float = STREAM_SECONDS,
    ) -> None:
        super().__init__(
            team_id,
            scopes,
            now=now,
            clock=clock,
            trigger_seconds=trigger_seconds,
            stream_seconds=stream_seconds,
        )
        self.token = token
        self.posts_per_second = posts_per_second
        self.app_token = app_token
        self.latency = 0.0
        self.before: Hook | None = None
        self.after: Hook | None = None
        self._clock = clock
        self._calls: list[tuple[str, Json]] = []
        self._faults = Faults()
        self._pace = Pace()
        self.add_channel("C0DIGEST", "digest")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.stop()
        super().__exit__(kind, error, trace)

    # for tests

    @property
    def calls(self) -> list[tuple[str, Json]]:
        """Every call so far as (method, arguments), refused and failed ones too."""
        with self._lock:
            return list(self._calls)

    def calls_to(self, method: str) -> list[Json]:
        return [arguments for name, arguments in self.calls if name == method]

    def fail_next(
        self,
        method: str,
        *,
        error: str | None = None,
        status: int = 200,
        retry_after: int | None = None,
        after_effect: bool = False,
        hang_up: bool = False,
        times: int = 1,
    ) -> None:
        """Make the next calls go wrong; with ``after_effect`` they do their work and only the answer is lost."""
        if method not in {UPLOAD, RESPONSE, *METHODS}:
            raise ValueError(f"no method {method}")
        found = failure(error, status, retry_after, after_effect=after_effect, hang_up=hang_up)
        with self._lock:
            self._faults.add(method, found, times)

    # the wire

    def handle(self, request: Request) -> Response:
        try:
            method, arguments = self._parse(request)
        except (TypeError, ValueError):
            return self._unread(request)
        fault = self._arrive(method, arguments)
        if self.before:
            self.before(method, arguments)
        if fault and not fault.after_effect:
            return fault.response(method)
        answer = self._answer(request, method, arguments)
        if self.after:
            self.after(method, arguments)
        return fault.response(method) if fault else answer

    def _parse(self, request: Request) -> tuple[str, Json]:
        if request.path.startswith(UPLOAD_PATH):
            return UPLOAD, {"file_id": request.path.removeprefix(UPLOAD_PATH), "content": file_content(request)}
        if request.path.startswith(RESPONSE_PATH):
            return RESPONSE, answer_of(request, self.url)
        return request.path.removeprefix("/api").strip("/"), request.arguments()

    def _unread(self, request: Request) -> Response:
        if request.path.startswith(RESPONSE_PATH):
            return refused("invalid_payload", 400)
        return failed("invalid_json")

    def _arrive(self, method: str, arguments: Json) -> Failure | None:
        time.sleep(self.latency)
        with self._lock:
            self._calls.append((method, {key: value for key, value in arguments.items() if key != "token"}))
            return self._faults.next(method)

    def _answer(self, request: Request, method: str, arguments: Json) -> Response:
        with self._settled():
            try:
                if method == UPLOAD:
                    return self._receive(**arguments)
                if method == RESPONSE:
                    return self._responses.receive(arguments)
                answer = self._call(request, method, arguments)
            except SlackError as error:
                limited = error.code == "ratelimited"
                return failed(error.code, 429 if limited else 200, 1 if limited else None, **error.more)
        headers = {"x-oauth-scopes": ",".join(sorted(self.workspace.scopes))}
        return Response.of_json({"ok": True, **answer}, headers=headers)

    def _call(self, request: Request, name: str, arguments: Json) -> Json:
        if name not in METHODS:
            raise SlackError("unknown_method")
        method = METHODS[name]
        token = request.headers.get("authorization", "").removeprefix("Bearer ") or arguments.get("token")
        self._admit(str(token or ""), method)
        if name == "chat.postMessage":
            self._pace.spend(str(arguments.get("channel")), self._clock(), self.posts_per_second)
        return method.call(self.workspace, arguments)

    def _admit(self, token: str, method: Method) -> None:
        """The app's token opens connections and does nothing else; the bot's does the rest."""
        if token not in {self.token, self.app_token}:
            raise SlackError("invalid_auth" if token else "not_authed")
        if (token == self.app_token) != method.for_app:
            raise SlackError("not_allowed_token_type")
        if method.scope:
            self.workspace.require(method.scope)

    def _receive(self, file_id: str, content: bytes) -> Response:
        if file_id not in self.workspace.uploads:
            return Response(404, b"no such upload")
        self.workspace.uploads[file_id]["content"] = content
        return Response(200, f"OK - {len(content)}".encode())
