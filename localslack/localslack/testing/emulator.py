"""The local Slack for tests: calls fail on request, and events can come through Socket Mode."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from localslack.loopback import Request, Response
from localslack.methods.registry import ALL_SCOPES, METHODS
from localslack.methods.response_urls import RESPONSE
from localslack.server.local_slack import GENERAL, UPLOAD, LocalSlack
from localslack.server.team import Times
from localslack.socket_mode import SocketModeServer
from localslack.state.streams import STREAM_SECONDS
from localslack.state.triggers import TRIGGER_SECONDS
from localslack.state.workspace import START, Json
from localslack.testing.faults import FaultQueue, plan_failure

Hook = Callable[[str, Json], None]


class SlackEmulator(LocalSlack):
    """A local Slack with planned failures and hooks.

    ``before`` runs ahead of a call, and ``after`` between its effect and its answer. Both run outside the lock:
    they may wait for other calls, or raise ``HangUp`` to drop the connection there. ``latency`` is in seconds a
    call.
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
        now: Callable[[], float] = lambda: START,
        clock: Callable[[], float] = time.monotonic,
        trigger_seconds: float = TRIGGER_SECONDS,
        stream_seconds: float = STREAM_SECONDS,
    ) -> None:
        self.socket = SocketModeServer()
        times = Times(now, clock, trigger_seconds, stream_seconds)
        super().__init__(
            token,
            team_id,
            scopes,
            app_token=app_token,
            bot_name=bot_name,
            channel=channel,
            posts_per_second=posts_per_second,
            link=self.socket.make_address,
            times=times,
        )
        self.latency = 0.0
        self.before: Hook | None = None
        self.after: Hook | None = None
        self._faults = FaultQueue()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.stop()
        super().__exit__(kind, error, trace)

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
        """Make the next calls fail; with ``after_effect`` they take effect and only the answer is lost."""
        if method not in {UPLOAD, RESPONSE, *METHODS}:
            raise ValueError(f"no method {method}")
        failure = plan_failure(error, status, retry_after, after_effect=after_effect, hang_up=hang_up)
        with self._lock:
            self._faults.add_failure(method, failure, times)

    def _record_call(self, method: str, arguments: Json) -> None:
        time.sleep(self.latency)
        super()._record_call(method, arguments)

    def _handle_call(self, request: Request, method: str, arguments: Json) -> Response:
        with self._lock:
            fault = self._faults.pop_next(method)
        if self.before:
            self.before(method, arguments)
        if fault and not fault.after_effect:
            return fault.make_response(method)
        answer = super()._handle_call(request, method, arguments)
        if self.after:
            self.after(method, arguments)
        return fault.make_response(method) if fault else answer
