"""A loopback Claude: ``POST /v1/messages`` as JSON or server-sent events, scripted step by step, and its models.

The steps are in ``claude_script``, what it refuses in ``claude_limits`` and ``claude_tools``, what it remembers
in ``claude_cache`` and ``claude_thoughts``, and the forms of its answers in ``claude_replies`` and
``claude_stream``; here is the server.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from localslack.loopback import HangUp, Loopback, Request, Response

from tests.emulators.claude.errors import Rejected, require
from tests.emulators.claude.limits import check_body, check_request
from tests.emulators.claude.models import MODELS_PATH, model_answer
from tests.emulators.claude.prompt_cache import PromptCache
from tests.emulators.claude.replies import Reply, error_response, output_tokens, reply_of, with_thought
from tests.emulators.claude.request import schema_of
from tests.emulators.claude.script import (
    Cut,
    Drop,
    Failure,
    Hang,
    Json,
    MidStreamError,
    Refusal,
    Stall,
    Step,
    Text,
    ToolUse,
    ToolUses,
    Truncated,
    check_answer,
    default_answer,
    find_failure,
    overview_answer,
    review_answer,
    summary_answer,
    suspicion,
)
from tests.emulators.claude.stream import LAST_CHUNK, Pause, chunk, events
from tests.emulators.claude.thinking import Thoughts
from tests.emulators.claude.tools import check_calls

__all__ = [
    "ClaudeEmulator",
    "Cut",
    "Drop",
    "Failure",
    "Hang",
    "Json",
    "MidStreamError",
    "Refusal",
    "Stall",
    "Step",
    "Text",
    "ToolUse",
    "ToolUses",
    "Truncated",
    "default_answer",
    "overview_answer",
    "review_answer",
    "schema_of",
    "summary_answer",
    "suspicion",
]


class ClaudeEmulator(Loopback):
    """Claude on 127.0.0.1. ``requests`` has every body; ``problems`` what a test's own answers got wrong.

    ``usages`` has the usage of each answer, in order; of a stream that breaks off, as far as it came. ``latency``
    is seconds before each answer, ``pace`` seconds before each event of a stream. ``respond`` answers whatever
    ``script`` does not. The prompt cache forgets by ``clock``.
    """

    def __init__(self, api_key: str = "sk-ant-test", clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.api_key = api_key
        self.latency = 0.0
        self.pace = 0.0
        self.respond: Callable[[dict[str, Any]], Step] = default_answer
        self.requests: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.usages: list[dict[str, Any]] = []
        self.in_flight_peak = 0
        self._in_flight = 0
        self._served = 0
        self._steps: deque[Step] = deque()
        self._cache = PromptCache(clock)
        self._thoughts = Thoughts()
        self._closing = threading.Event()
        self._lock = threading.Lock()

    def script(self, *steps: Step) -> None:
        """Answer the next requests with these, in order; refused requests use none up."""
        with self._lock:
            self._steps.extend(steps)

    def input_characters(self) -> int:
        """Characters of system, messages and schema over all requests, as JSON."""
        with self._lock:
            bodies = list(self.requests)
        parts = [part for body in bodies for part in (body.get("system"), body.get("messages"), schema_of(body))]
        return sum(len(json.dumps(part)) for part in parts if part is not None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        super().__exit__(kind, error, trace)

    def handle(self, request: Request) -> Response:
        with self._lock:
            self._in_flight += 1
            self.in_flight_peak = max(self.in_flight_peak, self._in_flight)
        try:
            response = self._handle(request)
        except BaseException:
            self._leave()
            raise
        if response.chunks is None:
            self._leave()
            return response
        return Response(response.status, headers=response.headers, chunks=self._until_left(response.chunks))

    def _leave(self) -> None:
        with self._lock:
            self._in_flight -= 1

    def _until_left(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from chunks
        finally:
            self._leave()

    def _handle(self, request: Request) -> Response:
        try:
            if request.path.startswith(MODELS_PATH):
                return model_answer(request, self.api_key)
            check_request(request, self.api_key)
            body = self._record_request(request)
            check_body(body)
            self._thoughts.check(body)
            return self._answer(self._next_step(body), body)
        except Rejected as refused:
            return error_response(refused.failure)
        except HangUp:
            raise
        except Exception as problem:  # a fault in the test's own answers would else look like a lost connection
            with self._lock:
                self.problems.append(f"{type(problem).__name__}: {problem}")
            return error_response(Failure(500, "api_error", f"the test's answer is wrong: {problem}"))

    def _record_request(self, request: Request) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError as error:
            raise Rejected("The request body is not valid JSON") from error
        require(isinstance(body, dict), "The request body must be an object")
        with self._lock:
            self.requests.append(body)
        return dict(body)

    def _next_step(self, body: dict[str, Any]) -> Step:
        with self._lock:
            if self._steps:
                return self._steps.popleft()
        return self.respond(body)

    def _answer(self, step: Step, body: dict[str, Any]) -> Response:
        self._closing.wait(self.latency + getattr(step, "delay", 0.0))
        if failure := find_failure(step, self._closing, is_streamed=bool(body.get("stream"))):
            return error_response(failure)
        match step:
            case Json(value, lenient=False):
                check_answer(value, schema_of(body))
            case ToolUse() | ToolUses():
                check_calls(step, body)
        return self._message(step, body)

    def _message(self, step: Step, body: dict[str, Any]) -> Response:
        name = self._next_name()
        reply = with_thought(reply_of(step, body, name), body, name)
        self._thoughts.remember(reply.content)
        message = {
            "id": name,
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": reply.content,
        }
        message |= {"stop_reason": reply.stop_reason, "stop_sequence": None, "stop_details": reply.stop_details}
        message["usage"] = self._record_usage(reply, body)
        if not body.get("stream"):
            return Response.of_json(message, headers={"request-id": f"req_{name}"})
        headers = {"Content-Type": "text/event-stream; charset=utf-8", "request-id": f"req_{name}"}
        headers["Transfer-Encoding"] = "chunked"
        return Response(headers=headers, chunks=self._stream_message(message, reply))

    def _next_name(self) -> str:
        with self._lock:
            self._served += 1
            return f"msg_{self._served:06}"

    def _record_usage(self, reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
        usage = {**self._cache.usage(body), "output_tokens": output_tokens(reply)}
        with self._lock:
            self.usages.append(usage)
        return usage

    def _stream_message(self, message: dict[str, Any], reply: Reply) -> Iterator[bytes]:
        """The body of a stream, each event after its wait."""
        for event in events(message, reply):
            if isinstance(event, Pause):
                self._closing.wait(event.seconds)
                continue
            self._closing.wait(self.pace if reply.pace is None else reply.pace)
            yield chunk(event)
        yield LAST_CHUNK
