"""A loopback server that speaks the OpenAI-compatible protocol as vLLM does: models, and chat completions.

Its steps are those of the emulator of Claude, so that the same table of steps can be played on both. What it
refuses is in ``rules``, the forms of its answers are in ``replies``.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from localslack.loopback import HangUp, Loopback, Request, Response

from tests.emulators.claude.errors import Rejected
from tests.emulators.claude.script import (
    Failure,
    Json,
    Step,
    ToolUse,
    ToolUses,
    check_answer,
    default_answer,
    find_failure,
)
from tests.emulators.claude.stream import LAST_CHUNK, Pause, chunk
from tests.emulators.claude.tools import check_calls
from tests.emulators.openai_compatible.replies import (
    Reasoning,
    Reply,
    completion_of,
    events_of,
    reply_of,
    usage_of,
)
from tests.emulators.openai_compatible.rules import check_body, check_window, require
from tests.emulators.openai_compatible.view import schema_of, view_of

SMALL, LARGE = "test/small-8b", "test/large-32b"
CHAT_PATH, MODELS_PATH = "/v1/chat/completions", "/v1/models"
_NO_TOOLS = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'


def _answer_or_be_ready(view: dict[str, Any]) -> Step:
    """A neutral answer, also to what the doctor asks."""
    properties = view["output_config"].get("format", {}).get("schema", {}).get("properties", {})
    return Json({"ready": True}) if "ready" in properties else default_answer(view)


class OpenAIEmulator(Loopback):
    """The server on 127.0.0.1. ``requests`` has every body; ``headers`` those of every request.

    The other attributes are how it was started: its models with the lengths of their windows, whether it takes
    formats and tools, where it leaves reasoning, and whether it reports usage. An empty key lets everybody in.
    """

    def __init__(self, api_key: str = "key-of-the-server", window: int = 131_072) -> None:
        super().__init__()
        self.api_key = api_key
        self.models: dict[str, int | None] = {SMALL: window, LARGE: window}
        self.takes_format = self.takes_tools = self.reports_usage = True
        self.has_flat_errors = False
        self.reasoning: Reasoning = ""
        self.latency = self.pace = 0.0
        self.respond: Callable[[dict[str, Any]], Step] = _answer_or_be_ready
        # how the list of models describes one; as vLLM does
        self.describe: Callable[[str], dict[str, Any]] = self.describe_model
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.problems: list[str] = []
        self.usages: list[dict[str, Any]] = []
        self._served = 0
        self._steps: deque[Step] = deque()
        self._closing = threading.Event()
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"{self.url}/v1"

    @property
    def settings(self) -> dict[str, str]:
        return {
            "PRDIGEST_MODEL_PROVIDER": "openai-compatible",
            "PRDIGEST_MODEL_URL": self.address,
            "PRDIGEST_MODEL_KEY": self.api_key,
            "PRDIGEST_SUMMARY_MODEL": SMALL,
            "PRDIGEST_ANSWER_MODEL": LARGE,
        }

    def script(self, *steps: Step) -> None:
        """Answer the next requests with these, in order; refused requests use none up."""
        with self._lock:
            self._steps.extend(steps)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        super().__exit__(kind, error, trace)

    def handle(self, request: Request) -> Response:
        with self._lock:
            self.headers.append(request.headers)
        try:
            return self._handle(request)
        except Rejected as refused:
            return self._error(refused.failure)
        except HangUp:
            raise
        except Exception as problem:  # a fault in the test's own answers would else look like a lost connection
            with self._lock:
                self.problems.append(f"{type(problem).__name__}: {problem}")
            return self._error(Failure(500, "InternalServerError", f"the test's answer is wrong: {problem}"))

    def _handle(self, request: Request) -> Response:
        if self.api_key and request.headers.get("authorization") != f"Bearer {self.api_key}":
            # vLLM's own form for this one
            return Response.of_json({"error": "Unauthorized"}, 401)
        if (request.method, request.path) == ("GET", MODELS_PATH):
            return Response.of_json({"object": "list", "data": [self.describe(name) for name in self.models]})
        if (request.method, request.path) != ("POST", CHAT_PATH):
            return Response.of_json({"detail": "Not Found"}, 404)
        require(request.headers.get("content-type") == "application/json", "Unsupported Media Type", 415)
        body = self._record_request(request)
        check_body(body)
        name = body["model"]
        require(name in self.models, f"The model `{name}` does not exist.", 404, "NotFoundError")
        check_window(body, self.models[name] or 1_000_000)
        has_format = "response_format" in body
        require(self.takes_format or not has_format, "response_format of type json_schema is not supported")
        needs_parser = bool(body.get("tools")) and body.get("tool_choice", "auto") == "auto"
        require(self.takes_tools or not needs_parser, _NO_TOOLS)
        # a grammar holds the model to the schema from the first word: it could call nothing
        require(not (has_format and needs_parser), "this emulator takes no format for a turn that may call tools")
        return self._answer(self._next_step(view_of(body)), body)

    def _record_request(self, request: Request) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError as error:
            raise Rejected("There was an error parsing the body") from error
        require(isinstance(body, dict), "The body must be an object")
        with self._lock:
            self.requests.append(body)
        return dict(body)

    def describe_model(self, name: str) -> dict[str, Any]:
        made = {"id": name, "object": "model", "created": 1_790_000_000, "owned_by": "vllm"}
        return {**made, "root": name, "parent": None, "max_model_len": self.models[name], "permission": []}

    def _next_step(self, view: dict[str, Any]) -> Step:
        with self._lock:
            if self._steps:
                return self._steps.popleft()
        return self.respond(view)

    def _answer(self, step: Step, body: dict[str, Any]) -> Response:
        self._closing.wait(self.latency + getattr(step, "delay", 0.0))
        is_streamed = bool(body.get("stream"))
        if failure := find_failure(step, self._closing, is_streamed=is_streamed):
            return self._error(failure)
        match step:
            case Json(value, lenient=False):
                check_answer(value, schema_of(body))
            case ToolUse() | ToolUses():
                check_calls(step, view_of(body))
        with self._lock:
            self._served += 1
            name = f"chatcmpl-{self._served:06}"
        reply = reply_of(step, body, name, self.reasoning)
        usage = self._record_usage(reply, body)
        if not is_streamed:
            return Response.of_json(completion_of(reply, name, body["model"], usage))
        is_counted = (body.get("stream_options") or {}).get("include_usage")
        headers = {"Content-Type": "text/event-stream; charset=utf-8", "Transfer-Encoding": "chunked"}
        chunks = self._stream_message(reply, name, body["model"], usage if is_counted else None)
        return Response(headers=headers, chunks=chunks)

    def _record_usage(self, reply: Reply, body: dict[str, Any]) -> dict[str, Any] | None:
        if not self.reports_usage:
            return None
        usage = usage_of(reply, body)
        with self._lock:
            self.usages.append(usage)
        return usage

    def _stream_message(
        self, reply: Reply, name: str, model: str, usage: dict[str, Any] | None
    ) -> Iterator[bytes]:
        """The body of a stream, each event after its wait, and cut into pieces in the middle of events."""
        pace = getattr(reply.step, "pace", None)
        for event in events_of(reply, name, model, usage):
            if isinstance(event, Pause):
                self._closing.wait(event.seconds)
                continue
            self._closing.wait(self.pace if pace is None else pace)
            middle = len(event) // 2
            yield chunk(event[:middle])
            yield chunk(event[middle:])
        yield LAST_CHUNK

    def _error(self, failure: Failure) -> Response:
        detail = {"message": failure.message or failure.type, "type": failure.type, "param": None}
        detail |= {"code": failure.status}  # type: ignore[dict-item]
        body: dict[str, Any] = {"object": "error", **detail} if self.has_flat_errors else {"error": detail}
        wait = {} if failure.retry_after is None else {"retry-after": f"{failure.retry_after:g}"}
        return Response.of_json(body, failure.status, wait)
