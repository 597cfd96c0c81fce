"""A Slack on the loopback for ``slack_sdk.WebClient(token=..., base_url=emulator.url)``.

What it refuses is in ``slack_limits``, what it remembers in ``slack_store`` and the methods of its Web API in
``slack_methods``; here are the server and the ways in which calls fail.
"""

from __future__ import annotations

import copy
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.emulators.loopback import HangUp, Loopback, Request, Response
from tests.emulators.slack_files import UPLOAD_PATH, file_content
from tests.emulators.slack_methods import METHODS
from tests.emulators.slack_store import START, Channel, Json, SlackError, Workspace

SCOPES = frozenset(
    "app_mentions:read channels:history channels:read chat:write commands files:read files:write groups:history "
    "groups:read im:history im:read im:write reactions:write users:read".split()
)
UPLOAD = "upload"  # the name that sending a file's bytes has in ``calls`` and for ``fail_next``
BURST = 5  # posts that may come at once: Slack promises one a second and says only that bursts are fine
STATUS_ERRORS = {429: "ratelimited", 503: "service_unavailable"}

Hook = Callable[[str, Json], None]


@dataclass(frozen=True)
class Failure:
    """How one call is to go wrong."""

    error: str
    status: int
    retry_after: int | None
    after_effect: bool
    hang_up: bool

    def response(self) -> Response:
        if self.hang_up:
            raise HangUp
        return failed(self.error, self.status, self.retry_after)


def failed(error: str, status: int = 200, retry_after: int | None = None, **more: str) -> Response:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Response.of_json({"ok": False, "error": error, **more}, status, headers)


@dataclass(frozen=True)
class Bucket:
    """How many posts a channel takes at once, and when that was true."""

    left: float
    at: float

    def later(self, now: float, rate: float) -> Bucket:
        return Bucket(min(BURST, self.left + (now - self.at) * rate), now)


class SlackEmulator(Loopback):
    """One workspace with one bot in it. ``now`` gives the seconds of a message's ts, ``clock`` those of the pace.

    ``before`` runs ahead of a call and ``after`` between its effect and its answer, both outside the lock:
    they may wait for other calls, or raise ``HangUp`` to drop the connection there.
    """

    def __init__(
        self,
        token: str = "xoxb-test",  # noqa: S107 (a token of nothing)
        team_id: str = "T0TEAM",
        scopes: frozenset[str] = SCOPES,
        *,
        posts_per_second: float | None = None,
        now: Callable[[], float] = lambda: START,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.token = token
        self.posts_per_second = posts_per_second
        self.latency = 0.0
        self.before: Hook | None = None
        self.after: Hook | None = None
        self.workspace = Workspace(team_id, scopes, self.url, now)
        self._clock = clock
        self._lock = threading.Lock()
        self._calls: list[tuple[str, Json]] = []
        self._failures: defaultdict[str, deque[Failure]] = defaultdict(deque)
        self._buckets: dict[str, Bucket] = {}
        self.add_channel("C0DIGEST", "digest")

    # for tests

    def add_channel(
        self,
        id: str,  # noqa: A002 (Slack's own word)
        name: str,
        *,
        member: bool = True,
        archived: bool = False,
        private: bool = False,
    ) -> None:
        with self._lock:
            self.workspace.channels[id] = Channel(id, name, member, archived, private or id.startswith("G"))

    def add_message(self, channel: str, text: str, user: str = "U0HUMAN", thread_ts: str | None = None) -> str:
        """A message of somebody else; its ts."""
        with self._lock:
            return str(self.workspace.add(self.workspace.channels[channel], user, text, thread_ts)["ts"])

    def messages(self, channel: str) -> list[Json]:
        """Top level, oldest first."""
        with self._lock:
            return self.workspace.channels[channel].top_level()

    def replies(self, channel: str, ts: str) -> list[Json]:
        """The replies under a message, oldest first and without it."""
        with self._lock:
            return self.workspace.channels[channel].thread_of(ts)[1:]

    @property
    def files(self) -> list[Json]:
        """Shared files: id, name, title, content, channels, thread_ts."""
        with self._lock:
            return self.workspace.files()

    @property
    def ephemerals(self) -> list[Json]:
        with self._lock:
            return copy.deepcopy(self.workspace.ephemerals)

    @property
    def views(self) -> list[Json]:
        with self._lock:
            return copy.deepcopy(list(self.workspace.views.values()))

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
        """Make the next calls go wrong; with ``after_effect`` they do their work and only the answer is lost.

        A rate limit, however it is asked for, is a 429 with Retry-After, as Slack's always are.
        """
        if method not in {UPLOAD, *METHODS}:
            raise ValueError(f"no method {method}")
        if status == 429 or error == "ratelimited" or (retry_after is not None and status == 200):
            status, retry_after = 429, 1 if retry_after is None else retry_after
        code = error or STATUS_ERRORS.get(status, "internal_error")
        with self._lock:
            self._failures[method].extend([Failure(code, status, retry_after, after_effect, hang_up)] * times)

    # the wire

    def handle(self, request: Request) -> Response:
        try:
            method, arguments = self._parse(request)
        except (TypeError, ValueError):
            return failed("invalid_json")
        failure = self._arrive(method, arguments)
        if self.before:
            self.before(method, arguments)
        if failure and not failure.after_effect:
            return failure.response()
        answer = self._answer(request, method, arguments)
        if self.after:
            self.after(method, arguments)
        return failure.response() if failure else answer

    def _parse(self, request: Request) -> tuple[str, Json]:
        if request.path.startswith(UPLOAD_PATH):
            return UPLOAD, {"file_id": request.path.removeprefix(UPLOAD_PATH), "content": file_content(request)}
        return request.path.removeprefix("/api").strip("/"), request.arguments()

    def _arrive(self, method: str, arguments: Json) -> Failure | None:
        time.sleep(self.latency)
        with self._lock:
            self._calls.append((method, {key: value for key, value in arguments.items() if key != "token"}))
            waiting = self._failures[method]
            return waiting.popleft() if waiting else None

    def _answer(self, request: Request, method: str, arguments: Json) -> Response:
        with self._lock:
            try:
                if method == UPLOAD:
                    return self._receive(**arguments)
                answer = self._call(request, method, arguments)
            except SlackError as error:
                limited = error.code == "ratelimited"
                return failed(error.code, 429 if limited else 200, 1 if limited else None, **error.more)
        headers = {"x-oauth-scopes": ",".join(sorted(self.workspace.scopes))}
        return Response.of_json({"ok": True, **answer}, headers=headers)

    def _call(self, request: Request, name: str, arguments: Json) -> Json:
        if name not in METHODS:
            raise SlackError("unknown_method")
        token = request.headers.get("authorization", "").removeprefix("Bearer ") or arguments.get("token")
        if token != self.token:
            raise SlackError("invalid_auth" if token else "not_authed")
        method = METHODS[name]
        if method.scope:
            self.workspace.require(method.scope)
        if name == "chat.postMessage":
            self._pace(str(arguments.get("channel")))
        return method.call(self.workspace, arguments)

    def _pace(self, channel: str) -> None:
        """One post a second and channel, in the measure of ``posts_per_second``."""
        if self.posts_per_second is None:
            return
        now = self._clock()
        bucket = self._buckets.get(channel, Bucket(BURST, now)).later(now, self.posts_per_second)
        self._buckets[channel] = bucket
        if bucket.left < 1:
            raise SlackError("ratelimited")
        self._buckets[channel] = replace(bucket, left=bucket.left - 1)

    def _receive(self, file_id: str, content: bytes) -> Response:
        if file_id not in self.workspace.uploads:
            return Response(404, b"no such upload")
        self.workspace.uploads[file_id]["content"] = content
        return Response(200, f"OK - {len(content)}".encode())
