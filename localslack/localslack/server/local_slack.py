"""A Slack on the loopback for ``slack_sdk.WebClient(token=..., base_url=slack.url)``.

This is the server. What it refuses is in :mod:`localslack.rules`, what it remembers in :mod:`localslack.state`,
control over the team in the other modules of this package, the methods of the Web API in
:mod:`localslack.methods`, and the people who use the app in :mod:`localslack.users`.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from localslack.errors import SlackError
from localslack.loopback import Request, Response
from localslack.methods.files import UPLOAD_PATH, read_file_content
from localslack.methods.registry import ALL_SCOPES, METHODS, Method
from localslack.methods.response_urls import RESPONSE, RESPONSE_PATH, make_refusal, parse_answer
from localslack.server.team import DEFAULT_TIMES, SlackTeam, Times, refuse_socket
from localslack.state.rate_limit import PostRateLimiter
from localslack.state.workspace import Json

# browsers send these with a page's request to another address, and apps never do
_BROWSER_HEADERS = frozenset({"origin", "sec-fetch-site"})
GENERAL = ("C0GENERAL", "general")
UPLOAD = "upload"  # the name of an upload in ``calls``
LOGGED_CALLS = 200
_NO_ANSWER = "no answer"
_FAILURE_START = b'{"ok": false'


@dataclass(frozen=True)
class LoggedCall:
    """A call with the Unix time of its answer. ``error`` is Slack's error code, empty if it succeeded."""

    at: float
    method: str
    arguments: Json
    error: str = ""


@dataclass(frozen=True)
class Refusal:
    """A call that was refused: its method, Slack's error code and its arguments."""

    method: str
    error: str
    arguments: Json = field(default_factory=dict)


class LocalSlack(SlackTeam):
    """One workspace with one app in it, served over HTTP while it is entered.

    ``scopes`` are those of the bot's token; ``bot_name`` is the bot's name. ``channel`` is the id and the name of
    a channel that exists from the start, with the bot in it. ``posts_per_second`` limits the posts to each
    channel, as Slack does with 1; None means no limit. ``link`` returns the address of a WebSocket for Socket
    Mode. The Web API is served on ``port``, or on any free one if it is 0; OSError is raised if it is not
    available.
    """

    def __init__(
        self,
        token: str = "xoxb-test",  # noqa: S107 (a token of nothing)
        team_id: str = "T0TEAM",
        scopes: frozenset[str] = ALL_SCOPES,
        *,
        app_token: str = "xapp-test",  # noqa: S107
        bot_name: str = "bot",
        channel: tuple[str, str] = GENERAL,
        posts_per_second: float | None = None,
        link: Callable[[], str] = refuse_socket,
        times: Times = DEFAULT_TIMES,
        port: int = 0,
    ) -> None:
        super().__init__(team_id, scopes, bot_name=bot_name, link=link, times=times, port=port)
        self.token = token
        self.posts_per_second = posts_per_second
        self.app_token = app_token
        self._clock = times.clock
        self._calls: list[tuple[str, Json]] = []
        self._log: deque[LoggedCall] = deque(maxlen=LOGGED_CALLS)
        self._refusals: list[Refusal] = []
        self._post_limiter = PostRateLimiter()
        self.home, name = channel
        self.add_channel(self.home, name)

    @property
    def calls(self) -> list[tuple[str, Json]]:
        """All calls so far as (method, arguments), refused and failed ones included."""
        with self._lock:
            return list(self._calls)

    @property
    def log(self) -> list[LoggedCall]:
        """The last calls that were answered, newest first."""
        with self._lock:
            return list(reversed(self._log))

    def list_calls_to(self, method: str) -> list[Json]:
        """Return the arguments of every call to one method."""
        return [arguments for name, arguments in self.calls if name == method]

    @property
    def refusals(self) -> list[Refusal]:
        """All calls that were refused, oldest first."""
        with self._lock:
            return list(self._refusals)

    # the connection

    def handle(self, request: Request) -> Response:
        """Answer a call of the Web API, an upload or an answer to a ``response_url``; refuse browsers."""
        if _BROWSER_HEADERS & request.headers.keys():
            return Response(403, b"for apps, not for pages")
        try:
            method, arguments = self._parse_request(request)
        except (TypeError, ValueError):
            return self._refuse_unreadable(request)
        self._record_call(method, arguments)
        answer: Response | None = None
        try:
            answer = self._handle_call(request, method, arguments)
            return answer
        finally:
            self._log_call(method, arguments, answer)
            self.changes.notify()

    def _handle_call(self, request: Request, method: str, arguments: Json) -> Response:
        """Return the answer to a readable call. Subclasses can add to it."""
        return self._answer_call(request, method, arguments)

    def _parse_request(self, request: Request) -> tuple[str, Json]:
        if request.path.startswith(UPLOAD_PATH):
            file_id, _, key = request.path.removeprefix(UPLOAD_PATH).partition("/")
            return UPLOAD, {"file_id": file_id, "key": key, "content": read_file_content(request)}
        if request.path.startswith(RESPONSE_PATH):
            return RESPONSE, parse_answer(request, self.url)
        return request.path.removeprefix("/api").strip("/"), request.read_arguments()

    def _refuse_unreadable(self, request: Request) -> Response:
        if request.path.startswith(RESPONSE_PATH):
            return make_refusal("invalid_payload", 400)
        return make_failure("invalid_json")

    def _record_call(self, method: str, arguments: Json) -> None:
        with self._lock:
            self._calls.append((method, _remove_token(arguments)))

    def _log_call(self, method: str, arguments: Json, answer: Response | None) -> None:
        """Keep a call with its result; without an answer the connection was dropped."""
        error = _find_error(answer) if answer else _NO_ANSWER
        with self._lock:
            self._log.append(LoggedCall(self.workspace.now(), method, _remove_token(arguments), error))

    def _answer_call(self, request: Request, method: str, arguments: Json) -> Response:
        with self._settle_streams():
            try:
                if method == UPLOAD:
                    return self._receive_upload(**arguments)
                if method == RESPONSE:
                    return self._receive_response(arguments)
                answer = self._call_method(request, method, arguments)
            except SlackError as error:
                self._refusals.append(Refusal(method, error.code, arguments))
                limited = error.code == "ratelimited"
                return make_failure(error.code, 429 if limited else 200, 1 if limited else None, **error.more)
        headers = {"x-oauth-scopes": ",".join(sorted(self.workspace.scopes))}
        return Response.of_json({"ok": True, **answer}, headers=headers)

    def _receive_response(self, arguments: Json) -> Response:
        answer = self._responses.receive_answer(arguments)
        if answer.status != 200:
            self._refusals.append(Refusal(RESPONSE, answer.body.decode(), arguments))
        return answer

    def _call_method(self, request: Request, name: str, arguments: Json) -> Json:
        if name not in METHODS:
            raise SlackError("unknown_method")
        method = METHODS[name]
        token = request.headers.get("authorization", "").removeprefix("Bearer ") or arguments.get("token")
        if self.workspace.steps.has_token(str(token or "")):
            arguments = {**arguments, "workflow_token": token}
        else:
            self._check_token(str(token or ""), method)
        if name == "chat.postMessage":
            self._post_limiter.take_token(str(arguments.get("channel")), self._clock(), self.posts_per_second)
        return method.call(self.workspace, arguments)

    def _check_token(self, token: str, method: Method) -> None:
        """Check the token: the app's token only opens connections, the bot's does all else."""
        if token not in {self.token, self.app_token}:
            raise SlackError("invalid_auth" if token else "not_authed")
        if (token == self.app_token) != method.for_app:
            raise SlackError("not_allowed_token_type")
        if method.scope:
            self.workspace.require_scope(method.scope)

    def _receive_upload(self, file_id: str, key: str, content: bytes) -> Response:
        file = self.workspace.uploads.get(file_id)
        if file is None or file["key"] != key:
            return Response(404, b"no such upload")
        file["content"] = content
        return Response(200, f"OK - {len(content)}".encode())


def _remove_token(arguments: Json) -> Json:
    """Return arguments without the token."""
    return {key: value for key, value in arguments.items() if key != "token"}


def _find_error(answer: Response) -> str:
    """Return the error code of an answer, empty if the call succeeded."""
    if answer.body.startswith(_FAILURE_START):
        return str(json.loads(answer.body).get("error", _NO_ANSWER))
    return "" if answer.status == 200 else f"{answer.status}"


def make_failure(error: str, status: int = 200, retry_after: int | None = None, **more: str) -> Response:
    """Return an answer of the Web API with ``ok`` false."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Response.of_json({"ok": False, "error": error, **more}, status, headers)
