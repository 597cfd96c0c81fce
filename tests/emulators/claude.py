"""A loopback Claude: ``POST /v1/messages`` as JSON or server-sent events, scripted step by step."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from jsonschema import Draft202012Validator

from tests.emulators.loopback import HangUp, Loopback, Request, Response

MODELS = frozenset(
    f"claude-{name}"
    for name in ("haiku-5-5", "sonnet-5-5", "opus-5-5", "fable-5-1", "sonnet-5", "opus-5", "haiku-4-5")
)
# these always think: they refuse `thinking: disabled` and a forced tool
ALWAYS_THINKING = frozenset({"claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-1"})
# models before 4.6 take an assistant turn to continue, and answer without a thinking block
OLDER_MODELS = frozenset({"claude-haiku-4-5"})
BODY_LIMIT = 32 * 1024 * 1024
OUTPUT_LIMIT = 128_000
BREAKPOINT_LIMIT = 4
# shorter prefixes are not cached; 512 to 4,096 by model, here one figure for all
CACHE_MINIMUM = 1024
# how many blocks before a breakpoint are compared with the cache
CACHE_LOOKBACK = 20
CHARACTERS_PER_TOKEN = 4
THOUGHT = "Weighing the request."
# characters of one text event; the service sends a few words at a time
PIECE = 24
# keywords of JSON Schema that structured output refuses, wherever they stand
UNSUPPORTED = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern maxItems "
    "uniqueItems contains minContains maxContains prefixItems minProperties maxProperties patternProperties "
    "propertyNames oneOf not if then else dependentRequired dependentSchemas unevaluatedProperties".split()
)


# --- the steps of a script


@dataclass(frozen=True)
class Text:
    """An answer in plain text."""

    text: str
    stop_reason: str = "end_turn"
    delay: float = 0.0


@dataclass(frozen=True)
class Json:
    """An answer that is one JSON value; it must match the request's schema unless ``lenient``."""

    value: Any
    delay: float = 0.0
    lenient: bool = False


@dataclass(frozen=True)
class Refusal:
    """The model declines: no text, ``stop_reason`` "refusal"."""

    explanation: str = "This request was declined."


@dataclass(frozen=True)
class Truncated:
    """The answer ends early, ``stop_reason`` "max_tokens"."""

    text: str


@dataclass(frozen=True)
class Failure:
    """An HTTP error, such as 429 rate_limit_error, 529 overloaded_error or 500 api_error."""

    status: int
    type: str
    message: str = ""
    retry_after: float | None = None


@dataclass(frozen=True)
class Hang:
    """No answer for some seconds, then the connection closes."""

    seconds: float


@dataclass(frozen=True)
class Drop:
    """The connection closes without an answer."""


@dataclass(frozen=True)
class MidStreamError:
    """A stream that breaks off with an error event; a request without a stream gets a plain 500."""

    text_before: str
    type: str = "overloaded_error"


@dataclass(frozen=True)
class ToolUse:
    """The model calls a tool."""

    name: str
    input: dict[str, Any]
    text: str = ""


Step = Text | Json | Refusal | Truncated | Failure | Hang | Drop | MidStreamError | ToolUse


def summary_answer(**overrides: Any) -> dict[str, Any]:
    """A valid summary of one pull request that claims nothing about code."""
    words = {
        "headline": "A small change to one part",
        "what_changed_and_why": "One part of the code was changed to make it simpler.",
        "technical_impact": "Callers see the same behaviour as before.",
        "potential_risks": "No particular risk stands out.",
        "key_insights": "The change is contained.",
        "risk_reason": "",
        "action": "",
    }
    return {"type": "SUBSTANTIAL", **words, "evidence": [], **overrides}


def overview_answer(**overrides: Any) -> dict[str, Any]:
    """A valid overview of a day that claims nothing about its pull requests."""
    return {"overview": "A day of small changes.", "themes": [], **overrides}


def default_answer(body: dict[str, Any]) -> Step:
    """A neutral answer in the shape that the request asks for."""
    wanted = (schema_of(body) or {}).get("properties", {})
    if "headline" in wanted:
        return Json(summary_answer())
    return Json(overview_answer()) if "overview" in wanted else Text("Nothing to add.")


# --- what the service refuses


class Rejected(Exception):
    """The service refuses the request."""

    def __init__(self, message: str, status: int = 400, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.failure = Failure(status, kind, message)


def _require(condition: object, message: str, status: int = 400, kind: str = "invalid_request_error") -> None:
    if not condition:
        raise Rejected(message, status, kind)


def check_request(request: Request, api_key: str) -> None:
    """Refuse what the service refuses before it reads the body."""
    _require(request.path == "/v1/messages" and request.method == "POST", "Not found", 404, "not_found_error")
    _require(len(request.body) <= BODY_LIMIT, "Request exceeds the maximum size", 413, "request_too_large")
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    given = request.headers.get("x-api-key") or bearer
    _require(given == api_key, "invalid x-api-key", 401, "authentication_error")
    _require("anthropic-version" in request.headers, "anthropic-version: header is required")


def check_body(body: dict[str, Any]) -> None:
    """Refuse what the service refuses in a body."""
    model, size = body.get("model"), body.get("max_tokens")
    _require(model in MODELS, f"model: {model}", 404, "not_found_error")
    _require(isinstance(size, int), "max_tokens: Field required")
    _require(1 <= (size or 0) <= OUTPUT_LIMIT, f"max_tokens: {size} is not between 1 and {OUTPUT_LIMIT}")
    for name in ("temperature", "top_p", "top_k"):
        _require(name not in body, f"{name}: this model does not support it")
    _check_messages(body)
    _check_thinking(body)
    _require(_breakpoints(body) <= BREAKPOINT_LIMIT, "A maximum of 4 blocks with cache_control may be provided.")
    _check_format(body)


def _check_messages(body: dict[str, Any]) -> None:
    turns = body.get("messages")
    _require(isinstance(turns, list) and turns, "messages: at least one message is required")
    roles = [turn.get("role") for turn in turns or []]
    _require(set(roles) <= {"user", "assistant"}, "messages: roles must be user or assistant")
    _require(roles[0] == "user", "messages: first message must use the user role")
    prefilled = roles[-1] == "assistant" and body["model"] not in OLDER_MODELS
    _require(not prefilled, "This model does not support assistant message prefill.")
    for block in blocks(body):
        blank = block.get("type") == "text" and not str(block.get("text", "")).strip()
        _require(not blank, "text content blocks must contain non-whitespace text")
    _require(all(turn.get("content") for turn in turns or []), "messages: content must be non-empty")
    _check_tool_results(turns or [])


def _check_tool_results(turns: list[dict[str, Any]]) -> None:
    """Every tool call is answered in the turn right after it, and nothing else is."""
    for before, after in zip([{}, *turns], [*turns, {}], strict=True):
        called = {block["id"] for block in _content(before.get("content")) if block.get("type") == "tool_use"}
        results = [block for block in _content(after.get("content")) if block.get("type") == "tool_result"]
        answered = {block.get("tool_use_id") for block in results}
        _require(answered <= called, f"messages: unexpected tool_use_id in tool_result: {answered - called}")
        _require(called <= answered, f"messages: tool_use ids without tool_result: {called - answered}")


def _check_thinking(body: dict[str, Any]) -> None:
    strict = body["model"] in ALWAYS_THINKING
    disabled = (body.get("thinking") or {}).get("type") == "disabled"
    _require(not (strict and disabled), f"thinking.type: disabled is not supported by {body['model']}")
    forced = (body.get("tool_choice") or {}).get("type") in {"any", "tool"}
    _require(not (strict and forced), f"tool_choice: forced tool use is not supported by {body['model']}")
    _require(not forced or body.get("tools"), "tool_choice may only be specified while providing tools")


def _breakpoints(body: dict[str, Any]) -> int:
    return sum("cache_control" in block for block in blocks(body)) + ("cache_control" in body)


def schema_of(body: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON schema that the request wants its answer in."""
    found = ((body.get("output_config") or {}).get("format") or {}).get("schema")
    return found if isinstance(found, dict) else None


def _check_format(body: dict[str, Any]) -> None:
    wanted = (body.get("output_config") or {}).get("format")
    if wanted is None:
        return
    _require(wanted.get("type") == "json_schema", "output_config.format.type: must be json_schema")
    schema = schema_of(body)
    _require(schema is not None, "output_config.format.schema: Field required")
    _check_schema(schema or {}, "output_config.format.schema")


def _check_schema(schema: dict[str, Any], place: str) -> None:
    unsupported = sorted(UNSUPPORTED & set(schema))
    _require(not unsupported, f"{place}: properties {unsupported} are not supported")
    _require(schema.get("minItems", 0) in {0, 1}, f"{place}: minItems above 1 is not supported")
    if "properties" in schema or "object" in [schema.get("type"), *_as_list(schema.get("type"))]:
        closed = schema.get("additionalProperties") is False
        _require(closed, f"{place}: for 'object' type, 'additionalProperties' must be explicitly set to false")
    for name, child in _children(schema):
        _check_schema(child, f"{place}.{name}")


def _children(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas inside a schema; a property may be called like a keyword."""
    for group in ("properties", "$defs", "definitions"):
        yield from schema.get(group, {}).items()
    for group in ("anyOf", "allOf"):
        yield from ((group, child) for child in schema.get(group, []))
    if isinstance(schema.get("items"), dict):
        yield "items", schema["items"]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# --- tokens and the prompt cache


def blocks(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Tools, system blocks and message blocks in the order in which the cache reads them."""
    found = [*body.get("tools", []), *_content(body.get("system"))]
    for turn in body.get("messages", []):
        found += _content(turn.get("content"))
    return found


def _content(value: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": value}] if isinstance(value, str) else list(value or [])


def _characters(block: dict[str, Any]) -> str:
    if block.get("type") == "text":
        return str(block["text"])
    return json.dumps({key: value for key, value in block.items() if key != "cache_control"}, sort_keys=True)


class PromptCache:
    """Which prefixes were seen before. Entries never expire here; the service keeps them 5 minutes or an hour."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def usage(self, body: dict[str, Any]) -> dict[str, Any]:
        """The input side of ``usage``; remembers the marked prefixes."""
        found = blocks(body)
        marks = [place for place, block in enumerate(found) if "cache_control" in block]
        marks += [len(found) - 1] if "cache_control" in body else []
        tokens, names = _prefixes(body, found)
        with self._lock:
            read = max((tokens[place] for mark in marks for place in self._hits(names, mark)), default=0)
            usable = [mark for mark in marks if tokens[mark] >= CACHE_MINIMUM]
            self._seen |= {names[mark] for mark in usable}
        written = max([tokens[mark] - read for mark in usable] + [0])
        return _input_usage(tokens[-1] - read - written, read, written, hour=_hourly(body, found, usable))

    def _hits(self, names: list[str], mark: int) -> list[int]:
        return [place for place in range(max(0, mark - CACHE_LOOKBACK), mark + 1) if names[place] in self._seen]


def _prefixes(body: dict[str, Any], found: list[dict[str, Any]]) -> tuple[list[int], list[str]]:
    """Tokens and a name for the prompt up to and with each block; caches are per model."""
    digest, size = hashlib.sha256(body["model"].encode()), 0
    tokens, names = [], []
    for block in found:
        text = _characters(block)
        size += len(text)
        digest.update(f"\0{text}".encode())
        tokens.append(size // CHARACTERS_PER_TOKEN)
        names.append(digest.hexdigest())
    return tokens, names


def _hourly(body: dict[str, Any], found: list[dict[str, Any]], usable: list[int]) -> bool:
    marked = [found[mark].get("cache_control") or body.get("cache_control") or {} for mark in usable]
    return bool(marked) and marked[-1].get("ttl") == "1h"


def _input_usage(fresh: int, read: int, written: int, *, hour: bool) -> dict[str, Any]:
    by_life = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
    by_life["ephemeral_1h_input_tokens" if hour else "ephemeral_5m_input_tokens"] = written
    return {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "cache_creation": by_life,
    }


# --- answers


@dataclass(frozen=True)
class Reply:
    """One answer before it takes the form of JSON or events; ``error`` breaks a stream off."""

    content: list[dict[str, Any]]
    stop_reason: str
    stop_details: dict[str, Any] | None = None
    error: str | None = None


def _text_reply(text: str, stop_reason: str, body: dict[str, Any]) -> Reply:
    limit = body["max_tokens"] * CHARACTERS_PER_TOKEN
    if len(text) > limit:
        return Reply([{"type": "text", "text": text[:limit]}], "max_tokens")
    return Reply([{"type": "text", "text": text}], stop_reason)


def _reply(step: Step, body: dict[str, Any]) -> Reply:
    match step:
        case Text(text, stop_reason):
            return _text_reply(text, stop_reason, body)
        case Json(value):
            return _text_reply(json.dumps(value), "end_turn", body)
        case Truncated(text):
            return _text_reply(text, "max_tokens", body)
        case Refusal(explanation):
            return Reply([], "refusal", {"type": "refusal", "category": None, "explanation": explanation})
        case MidStreamError(text, kind):
            return Reply([{"type": "text", "text": text}], "end_turn", error=kind)
        case ToolUse(name, given, text):
            said = [{"type": "text", "text": text}] if text else []
            made = hashlib.sha256(f"{name}{given}{len(body['messages'])}".encode()).hexdigest()[:24]
            return Reply(
                [*said, {"type": "tool_use", "id": f"toolu_{made}", "name": name, "input": given}], "tool_use"
            )
        case _:
            raise AssertionError(f"{step} has no content")


def _with_thought(reply: Reply, body: dict[str, Any]) -> Reply:
    disabled = (body.get("thinking") or {}).get("type") == "disabled"
    if body["model"] in OLDER_MODELS or disabled or not reply.content:
        return reply
    thought = {"type": "thinking", "thinking": THOUGHT, "signature": "c2lnbmVk"}
    return Reply([thought, *reply.content], reply.stop_reason, reply.stop_details, reply.error)


def _output_tokens(reply: Reply) -> int:
    texts = [
        block.get("text") or json.dumps(block.get("input"))
        for block in reply.content
        if block["type"] != "thinking"
    ]
    return max(1, sum(map(len, texts)) // CHARACTERS_PER_TOKEN)


def _error(failure: Failure) -> Response:
    detail = {"type": failure.type, "message": failure.message or failure.type}
    wait = {} if failure.retry_after is None else {"retry-after": f"{failure.retry_after:g}"}
    body = {"type": "error", "error": detail, "request_id": "req_emulated"}
    return Response.of_json(body, failure.status, {"request-id": "req_emulated", **wait})


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def _pieces(text: str) -> list[str]:
    """A text in short pieces, as it streams."""
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, str]]:
    match block["type"]:
        case "thinking":
            yield {"type": "thinking_delta", "thinking": block["thinking"]}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use":
            yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        case _:
            yield from ({"type": "text_delta", "text": piece} for piece in _pieces(block["text"]))


def _events(message: dict[str, Any], reply: Reply) -> Iterator[bytes]:
    """The events of one answer, from message_start to message_stop or the error."""
    begun = {**message, "content": [], "stop_reason": None, "stop_details": None}
    yield _event("message_start", message={**begun, "usage": {**message["usage"], "output_tokens": 1}})
    yield _event("ping")
    empty: dict[str, dict[str, Any]] = {
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"input": {}},
        "text": {"text": ""},
    }
    for index, block in enumerate(reply.content):
        yield _event("content_block_start", index=index, content_block={**block, **empty[block["type"]]})
        for delta in _deltas(block):
            yield _event("content_block_delta", index=index, delta=delta)
        if reply.error and block["type"] == "text":
            yield _event("error", error={"type": reply.error, "message": reply.error})
            return
        yield _event("content_block_stop", index=index)
    ended = {"stop_reason": reply.stop_reason, "stop_sequence": None, "stop_details": reply.stop_details}
    yield _event("message_delta", delta=ended, usage=message["usage"])
    yield _event("message_stop")


class ClaudeEmulator(Loopback):
    """Claude on 127.0.0.1. ``requests`` has every body; ``problems`` what a test's own answers got wrong.

    ``latency`` is seconds before each answer, ``pace`` seconds before each event of a stream. ``respond``
    answers whatever ``script`` does not.
    """

    def __init__(self, api_key: str = "sk-ant-test") -> None:
        super().__init__()
        self.api_key = api_key
        self.latency = 0.0
        self.pace = 0.0
        self.respond: Callable[[dict[str, Any]], Step] = default_answer
        self.requests: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.in_flight_peak = 0
        self._in_flight = 0
        self._served = 0
        self._steps: deque[Step] = deque()
        self._cache = PromptCache()
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
        self._enter()
        try:
            response = self._handle(request)
        except BaseException:
            self._leave()
            raise
        if response.chunks is None:
            self._leave()
            return response
        return Response(response.status, headers=response.headers, chunks=self._paced(response.chunks))

    def _enter(self) -> None:
        with self._lock:
            self._in_flight += 1
            self.in_flight_peak = max(self.in_flight_peak, self._in_flight)

    def _leave(self) -> None:
        with self._lock:
            self._in_flight -= 1

    def _paced(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        try:
            for chunk in chunks:
                self._closing.wait(self.pace)
                yield chunk
        finally:
            self._leave()

    def _handle(self, request: Request) -> Response:
        try:
            check_request(request, self.api_key)
            body = self._recorded(request)
            check_body(body)
            return self._answer(self._next_step(body), body)
        except Rejected as refused:
            return _error(refused.failure)
        except HangUp:
            raise
        except Exception as problem:  # a fault in the test's own answers would else look like a lost connection
            with self._lock:
                self.problems.append(f"{type(problem).__name__}: {problem}")
            return _error(Failure(500, "api_error", f"the test's answer is wrong: {problem}"))

    def _recorded(self, request: Request) -> dict[str, Any]:
        try:
            body = request.json()
        except ValueError as error:
            raise Rejected("The request body is not valid JSON") from error
        _require(isinstance(body, dict), "The request body must be an object")
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
        match step:
            case Drop():
                raise HangUp
            case Hang(seconds):
                self._closing.wait(seconds)
                raise HangUp
            case Failure():
                return _error(step)
            case MidStreamError(_, kind) if not body.get("stream"):
                return _error(Failure(500, kind))
            case Json(value, lenient=False):
                check_answer(value, schema_of(body))
        return self._message(_with_thought(_reply(step, body), body), body)

    def _message(self, reply: Reply, body: dict[str, Any]) -> Response:
        with self._lock:
            self._served += 1
            name = f"msg_{self._served:06}"
        message = {
            "id": name,
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": reply.content,
        }
        message |= {"stop_reason": reply.stop_reason, "stop_sequence": None, "stop_details": reply.stop_details}
        message["usage"] = {**self._cache.usage(body), "output_tokens": _output_tokens(reply)}
        if not body.get("stream"):
            return Response.of_json(message, headers={"request-id": f"req_{name}"})
        headers = {"Content-Type": "text/event-stream; charset=utf-8", "request-id": f"req_{name}"}
        return Response(headers=headers, chunks=_events(message, reply))


def check_answer(value: Any, schema: dict[str, Any] | None) -> None:
    """Raise AssertionError if a scripted value is not what the request's schema allows."""
    found = [] if schema is None else list(Draft202012Validator(schema).iter_errors(value))
    if found:
        reasons = "; ".join(f"{error.json_path}: {error.message}" for error in found)
        raise AssertionError(f"the answer does not match the request's schema: {reasons}")
