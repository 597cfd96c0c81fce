"""Claude over its SDK: answers in a schema, and conversations with tools that are streamed as they are written.

The SDK does not check what it receives. The page of a proxy comes as it is, whatever the SDK's types declare.

A cloud's library finds its credentials itself (environment, profile, role, metadata service); this project never
reads them. It calls services of its own for that, with its own limits: boto3 waits 60 seconds for an answer,
google-auth 120. A call whose deadline has passed by then ends at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import anthropic
import httpx2
from anthropic.lib.streaming import MessageStream
from anthropic.types import Message
from anthropic.types import Usage as BilledUsage

from bot.errors import (
    ConfigurationError,
    ModelAnswerTruncated,
    ModelBusy,
    ModelError,
    ModelRefusal,
    ModelRequestRejected,
)
from bot.platform.http.bounded_calls import DeadlineExceeded, bound_requests, run_in_own_context
from bot.platform.http.headers import parse_retry_after
from bot.platform.http.httpx_clients import NO_KEEPALIVE, build_client_options, track_connections
from bot.platform.models import (
    Chat,
    ChatEvent,
    Completion,
    ModelAccess,
    Prompt,
    TextDelta,
    TextPart,
    ToolCall,
    ToolResult,
    Turn,
    TurnEnd,
    TurnUsage,
    failures,
)
from bot.platform.models.claude import BEDROCK_PREFIX, KEY_REFUSED, PROJECT, REGION
from bot.platform.models.claude.check import INCONCLUSIVE
from bot.usage import NO_USAGE, Usage

SILENCE_SECONDS = 60.0  # of one call; a summary takes 2 to 10, and a digest waits for the slowest one
# seconds for one call from its beginning to the last byte: all that silence, and half as much for an answer that
# arrives slowly; no later attempt begins after that time (bot.platform.models.completion)
CALL_SECONDS = 90.0
_TRUNCATION_REASONS = ("max_tokens", "model_context_window_exceeded")
# temporary errors in error events of a stream whose status was a success
_TRANSIENT_TYPES = {"overloaded_error", "rate_limit_error", "api_error", "timeout_error"}
# the beginning of every conversation about the same days: questions of a morning come within the hour
_CACHE_FOR_HOUR = {"type": "ephemeral", "ttl": "1h"}
# the conversation so far: the next round, or the next question, comes soon
_CACHE_FOR_MINUTES = {"type": "ephemeral", "ttl": "5m"}


class CloudAccessError(anthropic.AnthropicError):
    """No credentials for a cloud, or none that can be renewed. The message is the type of the library's error."""


ClaudeClient = anthropic.Anthropic | anthropic.AnthropicBedrockMantle | anthropic.AnthropicVertex
# what the model writes, by the kind of event: its text, its calls and its thinking
_WRITTEN = {"text": "text", "input_json": "partial_json", "thinking": "thinking"}
_CHARACTERS_PER_TOKEN = 4
# errors of the service, of the network, of the deadline, and of a cloud's credentials
CALL_ERRORS = (DeadlineExceeded, anthropic.APIError, CloudAccessError)


@dataclass(frozen=True, slots=True)
class ServiceAdvice:
    """What operators read if a service refuses them, if it has no such model, and if it is another service."""

    access: str
    model: str
    address: str


API_ADVICE = ServiceAdvice(
    access="Claude rejected the key: check ANTHROPIC_API_KEY.",
    model="Claude has no model with that name: check PRDIGEST_SUMMARY_MODEL and PRDIGEST_ANSWER_MODEL.",
    address="The server is not Claude: check ANTHROPIC_BASE_URL.",
)
_CLOUD_ADVICE = ServiceAdvice(
    access="The cloud rejected the call, or there are no credentials for it: check them, the rights to the model, "
    "and PRDIGEST_MODEL_REGION.",
    model=f"{API_ADVICE.model} A model may also be missing in PRDIGEST_MODEL_REGION.",
    address="The server is not Claude: check the address of the cloud.",
)


class ClaudeConnection:
    """``ModelConnection`` over the Messages API. May be shared by threads.

    ``prefix`` is what a cloud adds to the names of Claude's models, ``seconds`` the limit of one completion.
    """

    def __init__(
        self,
        client: ClaudeClient,
        advice: ServiceAdvice = API_ADVICE,
        prefix: str = "",
        seconds: float = CALL_SECONDS,
    ) -> None:
        self._client = client
        self._advice = advice
        self._advice_log = failures.AdviceLog()
        self._prefix = prefix
        self._seconds = seconds

    def complete(self, prompt: Prompt) -> Completion:
        output: Any = {"effort": "low", **_build_format(prompt.schema)}
        with self._translate_errors():
            try:
                with bound_requests(self._seconds):
                    message = self._client.messages.create(
                        model=name_model(prompt.model, self._prefix),
                        max_tokens=prompt.max_tokens,
                        system=prompt.system,
                        messages=[{"role": "user", "content": prompt.user}],
                        output_config=output,
                    )
                usage = _convert_usage(message.usage)
                if message.stop_reason == "refusal":
                    raise ModelRefusal("the model declined to summarize it", usage)
                if message.stop_reason in _TRUNCATION_REASONS:
                    raise ModelAnswerTruncated(failures.MODEL_CUT, usage)
                # answers may begin with a block of thinking
                return Completion("".join(block.text for block in message.content if block.type == "text"), usage)
            except (UnicodeDecodeError, json.JSONDecodeError, AttributeError, TypeError) as error:
                raise self._report_wrong_service() from error

    @run_in_own_context
    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        request: dict[str, Any] = {
            "model": name_model(chat.model, self._prefix),
            "max_tokens": chat.max_tokens,
            "system": [{"type": "text", "text": chat.system, "cache_control": _CACHE_FOR_HOUR}],
            "messages": _build_messages(chat.turns),
            "tools": [dict(tool) for tool in chat.tools],
            "tool_choice": {"type": "auto" if chat.may_use_tools else "none"},
            "output_config": {"effort": "medium", **_build_format(chat.schema)},
            "timeout": max(failures.MIN_TIMEOUT, min(chat.silence, chat.seconds)),
        }
        with self._translate_errors():
            # a stream of pings alone is never silent, and the SDK does not report them
            with (
                bound_requests(max(failures.MIN_TIMEOUT, chat.seconds)),
                self._client.messages.stream(**request) as stream,
            ):
                message = yield from _iterate_deltas(stream)
            if message is None:
                raise self._report_wrong_service()
            yield from _finish_turn(message)

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except CALL_ERRORS as error:
            failure, advice = _explain_error(error, self._advice)
            self._advice_log.log_once(advice)
            raise failure from error
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            # once a stream has begun, the SDK passes on what the connection raises
            raise ModelBusy(failures.CONNECTION_BROKE) from error

    def _report_wrong_service(self) -> ModelBusy:
        self._advice_log.log_once(self._advice.address)
        return ModelBusy(failures.WRONG_SERVICE)


def name_model(model: str, prefix: str) -> str:
    """Return a cloud's name of a model. A name that is the cloud's already stays as it is."""
    return prefix + model if model.startswith("claude-") else model


# --- clients


def make_claude_client(api_key: str, base_url: str | None) -> anthropic.Anthropic:
    """Create a client without retries: the SDK's own would wait for a Retry-After of any length."""
    return anthropic.Anthropic(
        api_key=api_key,
        base_url=base_url,
        timeout=SILENCE_SECONDS,
        max_retries=0,
        http_client=_make_http_client(base_url or _ADDRESS),
        # spans without any text, whatever the environment says, and no header about them to the outside
        open_telemetry={"traces": {"content_mode": "metadata_only"}, "propagation": False},
    )


def _make_http_client(address: str) -> httpx2.Client:
    # a redirect is an error: the service sends none, and the next host would get the key or the prompt
    client = anthropic.DefaultHttpxClient(limits=NO_KEEPALIVE, **build_client_options(address))
    track_connections(client)
    return client


def connect_cloud(cloud: str, access: ModelAccess) -> ClaudeConnection:
    """Connect through a cloud. Raises ConfigurationError if its library is not installed."""
    return ClaudeConnection(_make_cloud_client(cloud, access, SILENCE_SECONDS), _CLOUD_ADVICE, _PREFIXES[cloud])


_PREFIXES = {"bedrock": BEDROCK_PREFIX, "vertex": ""}
_ADDRESS = "https://api.anthropic.com"
_CLOUD_ADDRESSES = {
    "bedrock": ("ANTHROPIC_BEDROCK_MANTLE_BASE_URL", "https://bedrock-mantle.{region}.api.aws"),
    "vertex": ("ANTHROPIC_VERTEX_BASE_URL", "https://{region}-aiplatform.googleapis.com"),
}


def _make_cloud_client(cloud: str, access: ModelAccess, timeout: float) -> BedrockClient | VertexClient:
    region = access.options[REGION]
    variable, address = _CLOUD_ADDRESSES[cloud]
    # the SDK reads the variable, too
    client = _make_http_client(os.environ.get(variable) or address.format(region=region))
    common: dict[str, Any] = {"timeout": timeout, "max_retries": 0, "http_client": client}
    if cloud == "bedrock":
        require_library("boto3", cloud)
        return BedrockClient(aws_region=region, **common)
    require_library("google.auth", cloud)
    return VertexClient(region=region, project_id=access.options[PROJECT], **common)


def require_library(module: str, extra: str) -> None:
    """Raise ConfigurationError if the library of an extra is not installed. It is not imported."""
    try:
        is_installed = find_spec(module) is not None
    except ModuleNotFoundError:
        # the package around it
        is_installed = False
    if not is_installed:
        raise ConfigurationError(
            f"PRDIGEST_MODEL_PROVIDER={extra} needs more libraries: install prdigest[{extra}], or run uv sync "
            f"--extra {extra}."
        )


class _CloudClient:
    """Mixin of clients: raises CloudAccessError if the cloud's library finds no credentials, or can't renew them.

    Those libraries raise errors of many types; the request itself is sent later.
    """

    def _prepare_request(self, request: httpx2.Request) -> None:
        try:
            super()._prepare_request(request)  # type: ignore[misc]
        except anthropic.AnthropicError:
            raise
        except Exception as error:
            raise CloudAccessError(type(error).__name__) from error


class BedrockClient(_CloudClient, anthropic.AnthropicBedrockMantle):
    pass


class VertexClient(_CloudClient, anthropic.AnthropicVertex):
    pass


def find_cloud_models(
    cloud: str, access: ModelAccess, models: Sequence[str], seconds: float
) -> dict[str, bool | None]:
    """Return for the doctor which models the credentials may use; None if only a message would show it.

    Clouds have no list of models. This counts the tokens of one word, which costs nothing.
    """
    client = _make_cloud_client(cloud, access, seconds)
    known: dict[str, bool | None] = {}
    for model in models:
        try:
            with bound_requests(seconds):
                client.messages.count_tokens(
                    model=name_model(model, _PREFIXES[cloud]), messages=[{"role": "user", "content": "Hello"}]
                )
            known[model] = True
        except CALL_ERRORS as error:
            if not isinstance(error, anthropic.APIStatusError) or error.status_code not in INCONCLUSIVE:
                raise _explain_error(error)[0] from error
            # the service says that there is no such model; a missing address is another 404
            is_missing = _read_error_type(error) == "not_found_error" and model in error.message
            known[model] = False if is_missing else None
    return known


# --- requests


def _build_format(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the format of the text: a tool could not be required instead, as large models refuse a forced one."""
    return {} if schema is None else {"format": {"type": "json_schema", "schema": dict(schema)}}


def _build_messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return the turns in the service's format, without empty ones. All of them are cached for five minutes."""
    messages: list[dict[str, Any]] = []
    for turn in turns:
        blocks = [dict(block) for block in turn.model_blocks] or [_build_block(part) for part in turn.parts]
        # models write blank text before a call, but the service does not accept it in a request
        if content := [block for block in blocks if block["type"] != "text" or block["text"].strip()]:
            messages.append({"role": "user" if turn.by == "person" else "assistant", "content": content})
    messages[-1]["content"][-1]["cache_control"] = _CACHE_FOR_MINUTES
    return messages


def _build_block(part: TextPart | ToolResult) -> dict[str, Any]:
    if isinstance(part, ToolResult):
        result = {"type": "tool_result", "tool_use_id": part.call, "content": part.text}
        return result | ({"is_error": True} if part.is_error else {})
    return {"type": "text", "text": part.text, **({"cache_control": _CACHE_FOR_HOUR} if part.stable else {})}


# --- answers. The stop reason is checked first: what was refused or cut may still hold text that looks complete


def _iterate_deltas(stream: MessageStream[Any]) -> Generator[ChatEvent, None, Message | None]:
    """Yield text and usage; return the message, None if the answer was not Claude's. Raises ModelBusy."""
    is_begun = is_over = False
    reported, characters = NO_USAGE, 0
    event: Any
    try:
        for event in stream:
            kind = getattr(event, "type", None)
            is_begun = is_begun or kind == "message_start"
            is_over = is_over or kind == "message_stop"
            if written := str(getattr(event, _WRITTEN.get(str(kind), ""), "")):
                # the service says only at the end how much it wrote, and a turn may end before
                characters += len(written)
                estimate = -(-characters // _CHARACTERS_PER_TOKEN)
                yield TurnUsage(replace(reported, output=max(reported.output, estimate)))
            if kind == "text":
                yield TextDelta(event.text)
            elif kind in ("message_start", "message_delta"):
                snapshot = stream._current_snapshot_or_none()
                if snapshot and snapshot.usage:
                    reported = _convert_usage(snapshot.usage)
                    yield TurnUsage(reported)
    except (anthropic.APIError, httpx2.HTTPError, httpx2.StreamError):
        raise
    except Exception as error:
        # the SDK fails on an answer that is not Claude's
        raise ModelBusy(failures.WRONG_SERVICE) from error
    if is_begun and not is_over:
        raise ModelBusy(failures.MODEL_STOPPED)
    return stream.get_final_message() if is_begun else None


def _finish_turn(message: Message) -> Iterator[ChatEvent]:
    if message.stop_reason == "refusal":
        raise ModelRefusal(failures.MODEL_DECLINED)
    # the last call of a turn that was cut may be incomplete
    if message.stop_reason == "tool_use":
        for block in message.content:
            if block.type == "tool_use":
                yield ToolCall(block.id, block.name, block.input if isinstance(block.input, Mapping) else {})
    blocks = tuple(block.model_dump(mode="json", exclude_none=True) for block in message.content)
    yield TurnEnd(Turn("model", model_blocks=blocks), is_cut=message.stop_reason in _TRUNCATION_REASONS)


def _convert_usage(billed: BilledUsage) -> Usage:
    """Return the usage of a call. Cache writes that are kept for an hour cost more, so they are counted apart."""
    hourly = billed.cache_creation.ephemeral_1h_input_tokens if billed.cache_creation else 0
    return Usage(
        input=billed.input_tokens,
        output=billed.output_tokens,
        cache_read=billed.cache_read_input_tokens or 0,
        cache_write=(billed.cache_creation_input_tokens or 0) - hourly,
        cache_write_hour=hourly,
    )


# --- errors


def _explain_error(error: Exception, advice: ServiceAdvice = API_ADVICE) -> tuple[ModelError, str]:
    """Return the error of the domain, and what operators read of it: a setting at fault, or what Claude says."""
    if isinstance(error, DeadlineExceeded | anthropic.APITimeoutError):
        return ModelBusy(failures.MODEL_TIMED_OUT), ""
    if isinstance(error, CloudAccessError):
        return ModelRequestRejected("there are no credentials for the model's cloud"), f"{advice.access} ({error})"
    if not isinstance(error, anthropic.APIStatusError):
        return ModelBusy(failures.MODEL_UNREACHABLE), ""
    status = error.status_code
    if status in (401, 403):
        return ModelRequestRejected(KEY_REFUSED), advice.access
    if status == 404:
        return ModelRequestRejected(failures.MODEL_MISSING), advice.model
    if status in (408, 409, 429) or status >= 500:
        pause = parse_retry_after(error.response.headers.get("retry-after"))
        return ModelBusy(failures.MODEL_BUSY, pause), ""
    if status == 200 and _read_error_type(error) in _TRANSIENT_TYPES:
        return ModelBusy(failures.MODEL_STOPPED), ""
    words = f"Claude rejected a request: {error.message}" if status == 400 else ""
    return ModelRequestRejected(failures.format_rejection(status)), words


def _read_error_type(error: anthropic.APIStatusError) -> str:
    detail = error.body.get("error") if isinstance(error.body, dict) else None
    return str(detail.get("type")) if isinstance(detail, dict) else ""
