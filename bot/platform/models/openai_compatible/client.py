"""An OpenAI-compatible server over HTTP: bounded in time and size, and with nothing of the environment in it.

A redirect is an error, so that neither the key nor a prompt goes to another host. Answers are not decompressed: a
few kilobytes could become gigabytes. What is read of them is checked, and all else left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import ModelBusy, ModelError, ModelInputTooLong, ModelRequestRejected
from bot.platform.http.bounded_calls import DeadlineExceeded, bound_requests, is_call_over
from bot.platform.http.headers import parse_retry_after
from bot.platform.http.httpx_clients import NO_KEEPALIVE, build_client_options, track_connections
from bot.platform.models import ModelAccess, failures
from bot.redaction import redact_text
from bot.usage import Usage
from impact.text.strings import collapse_lines, truncate_text

_MAX_BODY_BYTES = 4_000_000  # a longest answer of 32,000 tokens has a tenth of that
_MAX_ERROR_BYTES = 100_000
_MAX_EVENT_BYTES = 1_000_000  # servers send some tokens in each
_MAX_STREAM_CHARACTERS = 32_000_000  # each token comes with some 300 of JSON around it
_MAX_TOKENS = 100_000_000  # no prompt and no answer has more
_MAX_DETAIL_LENGTH = 300  # of a server's own words in the log

_KEY_REFUSED = "the model's API key was rejected"
TOO_LARGE = "the model's answer was larger than any answer can be"
TOO_LONG = "the request is longer than the model's context window"
NO_TOOLS = "the model's server accepts no tools"
UNPARSED_CALL = "the model's server passes on the model's calls of tools as text"
ADDRESS_ADVICE = (
    "What answers at PRDIGEST_MODEL_URL does not speak the OpenAI-compatible protocol: check the address, which "
    "usually ends in /v1."
)

# vLLM: "This model's maximum context length is 8192 tokens", "longer than the maximum model length"; llama.cpp:
# "exceeds the available context size"; OpenAI and gateways: the code. TGI: "`inputs` must have less than 1024
# tokens", "`inputs` tokens + `max_new_tokens` must be <= 2048"; TensorRT-LLM: "Prompt length (5056) exceeds
# maximum input length", "The sum of prompt length (72417.0), query length (0) should not exceed max_num_tokens";
# Gemini: "The input token count (1200293) exceeds the maximum number of tokens allowed"; SGLang: "Input length
# exceeds the maximum allowed length"; Claude behind a gateway: "prompt is too long"
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum model length|max_model_len|max_seq_len"
    r"|`?inputs`? (?:tokens \+ `?max_new_tokens`? must be|must have less than \d+ tokens)"
    r"|(?:prompt|input|query)s? (?:length|tokens?|token count)\b[^:]{0,60}?(?:exceed|is (?:larg|long)er than)"
    r"|maximum (?:prompt|input|sequence) length|exceed(?:s|ed)? model token limit"
    r"|(?:prompt|input|request) is too long|reduce the length of (?:the|your) (?:messages|prompt|input)",
    re.IGNORECASE,
)
# what vLLM says if it was started without a parser for calls
_NO_TOOLS = re.compile(r"tool[- ]choice requires|does not support tools", re.IGNORECASE)


class WrongService(Exception):
    """An answer that is not one of the protocol."""


@dataclass(eq=False)
class ServerRefusal(Exception):
    """An error that the server reports. ``code`` and ``message`` are its own words, not checked."""

    status: int
    code: str = ""
    message: str = ""
    is_reported: bool = False
    retry_after: float | None = None

    @property
    def is_bad_request(self) -> bool:
        """Whether the server takes no such request, so that another form of it may succeed."""
        return self.status in (400, 415, 422) and not self._is_too_long

    @property
    def _is_too_long(self) -> bool:
        # some servers call it a fault of their own
        return self.status in (400, 413, 422, 500) and bool(_TOO_LONG.search(f"{self.code} {self.message}"))

    @property
    def refuses_tools(self) -> bool:
        return self.status in (400, 422) and bool(_NO_TOOLS.search(self.message))

    def explain(self) -> tuple[ModelError, str]:
        """Return the error of the domain, and what operators read of it; empty if no setting is at fault."""
        if self._is_too_long:
            return ModelInputTooLong(TOO_LONG), ""
        if self.status in (408, 409, 425, 429) or self.status >= 500:
            return ModelBusy(failures.MODEL_BUSY, self.retry_after), ""
        sentence, advice = self._explain_rejection()
        return ModelRequestRejected(sentence), advice

    def _explain_rejection(self) -> tuple[str, str]:
        if self.status < 400:
            return "the model's server sends its callers elsewhere", (
                "The model's server answers with a redirect, which is not followed: set PRDIGEST_MODEL_URL to its "
                "target."
            )
        if self.refuses_tools:
            return NO_TOOLS, (
                "The model's server accepts no tools, without which there are no answers: start vLLM with "
                "--enable-auto-tool-choice and the --tool-call-parser of the model."
            )
        if self.status in (401, 403):
            return _KEY_REFUSED, "The model's server rejected the key: check PRDIGEST_MODEL_KEY."
        if self.status == 404 and not self.is_reported:
            return "the model's server has no such address", ADDRESS_ADVICE
        if self.status == 404:
            return failures.MODEL_MISSING, (
                "The model's server has no model with that name: check PRDIGEST_SUMMARY_MODEL and "
                "PRDIGEST_ANSWER_MODEL."
            )
        # up to a bracket: behind one, some repeat the request
        words = re.split(r"[\[{]", redact_text(self.message), maxsplit=1)[0]
        detail = truncate_text(collapse_lines(words), _MAX_DETAIL_LENGTH) or "it does not say why"
        return failures.format_rejection(self.status), (
            f"The model's server rejected the request with status {self.status}: {detail}"
        )


def _parse_refusal(status: int, body: object, retry_after: str | None = None) -> ServerRefusal:
    """Return the error in a body.

    It is ``{"error": {"message": …, "code": …}}``, without the outer object in earlier versions of vLLM, or
    ``{"error": "Unauthorized"}``; from Gemini a list of one. Other bodies are none of the server's.
    """
    pause = parse_retry_after(retry_after)
    if isinstance(body, list) and len(body) == 1:
        [body] = body
    match body.get("error", body) if isinstance(body, dict) else None:
        case str(message):
            return ServerRefusal(status, "", message, is_reported=True, retry_after=pause)
        case {"message": str(message), **rest}:
            code = f"{rest.get('code') or ''} {rest.get('type') or ''}"
            return ServerRefusal(status, code, message, is_reported=True, retry_after=pause)
    return ServerRefusal(status, retry_after=pause)


# --- what is read of answers


class _Shape(BaseModel):
    """Nothing is converted: a number is no text."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


_Count = Annotated[int, Field(ge=0, le=_MAX_TOKENS)]
ShapeT = TypeVar("ShapeT", bound=_Shape)


class _PromptDetails(_Shape):
    cached_tokens: _Count | None = None


class _TokenCounts(_Shape):
    prompt_tokens: _Count
    completion_tokens: _Count | None = None
    prompt_tokens_details: _PromptDetails | None = None

    def convert_usage(self) -> Usage:
        """Return the usage. Tokens of the prompt that the server had computed before are counted apart."""
        cached = self.prompt_tokens_details.cached_tokens if self.prompt_tokens_details else None
        cached = min(cached or 0, self.prompt_tokens)
        return Usage(self.prompt_tokens - cached, self.completion_tokens or 0, cached)


class Message(_Shape):
    """Text, and the reasoning beside it, which is only counted."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None

    @property
    def has_reasoning(self) -> bool:
        return bool(self.reasoning_content or self.reasoning)

    @property
    def length(self) -> int:
        return len(self.content or "") + len(self.reasoning_content or self.reasoning or "")


class FunctionPart(_Shape):
    name: str | None = None
    arguments: str | None = None


class CallPart(_Shape):
    index: Annotated[int, Field(ge=0)]
    id: str | None = None
    function: FunctionPart | None = None


class Delta(Message):
    tool_calls: list[CallPart] | None = None


class Choice(_Shape):
    """One answer, as a whole or a part of it."""

    index: int = 0
    message: Message | None = None
    delta: Delta | None = None
    finish_reason: str | None = None


class Reply(_Shape):
    """An answer, or an event of a stream. The last event may have usage alone."""

    choices: list[Choice]
    usage: _TokenCounts | None = None


class _ListedModel(_Shape):
    """A model, with the length of its window as vLLM, LiteLLM, OpenRouter or llama.cpp (``meta``) say it."""

    id: str
    max_model_len: Any = None
    max_input_tokens: Any = None
    context_length: Any = None
    meta: Any = None

    @property
    def window(self) -> int | None:
        slot = self.meta.get("n_ctx") if isinstance(self.meta, dict) else None
        lengths = (self.max_model_len, self.max_input_tokens, self.context_length, slot)
        return next((each for each in lengths if type(each) is int and 0 < each <= _MAX_TOKENS), None)


class _ModelList(_Shape):
    data: list[_ListedModel]


def _parse_shape(shape: type[ShapeT], value: dict[str, Any]) -> ShapeT:
    """Return a value in a shape; usage that can't be right counts as none. Raises WrongService."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        if value.get("usage") and all(each["loc"][0] == "usage" for each in error.errors()):
            return _parse_shape(shape, {**value, "usage": None})
        raise WrongService from error


# --- calls


class ServerClient:
    """Client of one server. May be shared by threads.

    ``seconds`` limit a whole call, ``silence`` each pause in it. Every call may raise ServerRefusal (the server
    reports an error), WrongService (it is another one), and ModelBusy or ModelRequestRejected (it can't be reached
    in time, or its answer is too large).
    """

    def __init__(self, access: ModelAccess) -> None:
        self._address = access.address.rstrip("/")
        # such a key does not fit into a header
        self._has_bad_key = not (access.key.isascii() and access.key.isprintable())
        headers = {"Accept-Encoding": "identity", "User-Agent": "prdigest"}
        if access.key and not self._has_bad_key:
            headers["Authorization"] = f"Bearer {access.key}"
        options = build_client_options(self._address)
        self._client = httpx2.Client(headers=headers, limits=NO_KEEPALIVE, **options)
        track_connections(self._client)
        self.close = self._client.close

    def list_windows(self, *, seconds: float) -> dict[str, int | None]:
        """Return the models with the lengths of their context windows in tokens, None where it is not said."""
        with self._open("/models", None, seconds, seconds) as answer:
            models = _parse_shape(_ModelList, _parse_object(_read_body(answer, _MAX_BODY_BYTES)))
        return {each.id: each.window for each in models.data}

    def ask(self, body: Mapping[str, Any], *, seconds: float) -> tuple[Choice, Message, Usage | None]:
        """Return an answer, what it says, and its usage if the server reports that."""
        with self._open("/chat/completions", body, seconds, seconds) as answer:
            reply = _parse_shape(Reply, _parse_object(_read_body(answer, _MAX_BODY_BYTES)))
        if not reply.choices or not reply.choices[0].message:
            raise WrongService
        usage = reply.usage.convert_usage() if reply.usage else None
        return reply.choices[0], reply.choices[0].message, usage

    def stream(self, body: Mapping[str, Any], *, seconds: float, silence: float) -> Generator[Reply, None, None]:
        """Yield the events of a stream up to its end mark."""
        size = 0
        with self._open("/chat/completions", body, seconds, silence) as answer:
            for event in httpx2.EventSource(answer, _MAX_EVENT_BYTES):
                size += len(event.data)
                if is_call_over():
                    # what had come before its end is still being read
                    raise ModelBusy(failures.MODEL_TIMED_OUT)
                if size > _MAX_STREAM_CHARACTERS:
                    raise ModelBusy(TOO_LARGE)
                if event.data.strip() == "[DONE]":
                    return
                if event.data:
                    yield _parse_event(event.data)

    @contextmanager
    def _open(
        self, path: str, body: Mapping[str, Any] | None, seconds: float, silence: float
    ) -> Iterator[httpx2.Response]:
        """Open the answer to a request, without its body. It is a success."""
        if self._has_bad_key:
            raise ModelRequestRejected(_KEY_REFUSED)
        method, timeout = "GET" if body is None else "POST", httpx2.Timeout(silence)
        try:
            with (
                bound_requests(seconds),
                self._client.stream(method, self._address + path, json=body, timeout=timeout) as answer,
            ):
                _check_answer(answer)
                yield answer
        except (DeadlineExceeded, httpx2.TimeoutException) as error:
            raise ModelBusy(failures.MODEL_TIMED_OUT) from error
        except (httpx2.SSEError, UnicodeError) as error:
            # another type of content, an event without an end, or no text
            raise WrongService from error
        except httpx2.ConnectError as error:
            raise ModelBusy(failures.MODEL_UNREACHABLE) from error
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
            raise ModelBusy(failures.CONNECTION_BROKE) from error


def _check_answer(answer: httpx2.Response) -> None:
    """Raise ServerRefusal for an error or a redirect, WrongService for a body that would have to be decoded."""
    if not answer.is_success:
        try:
            body = json.loads(_read_body(answer, _MAX_ERROR_BYTES))
        except (ValueError, RecursionError, ModelBusy):
            body = None
        raise _parse_refusal(answer.status_code, body, answer.headers.get("retry-after"))
    encoding = answer.headers.get("content-encoding", "identity").lower()
    if answer.status_code != 200 or encoding != "identity":
        raise WrongService


def _read_body(answer: httpx2.Response, limit: int) -> bytes:
    body = bytearray()
    for piece in answer.iter_raw():
        body += piece
        if len(body) > limit:
            raise ModelBusy(TOO_LARGE)
    return bytes(body)


def _parse_object(data: bytes | str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WrongService from error
    if not isinstance(value, dict):
        raise WrongService
    return value


def _parse_event(data: str) -> Reply:
    """Return an event. Raises ServerRefusal if it is an error, which comes after a success too."""
    event = _parse_object(data)
    if detail := event.get("error") or (event if event.get("object") == "error" else None):
        # the code may be another status
        code = detail.get("code") if isinstance(detail, dict) else None
        status = code if isinstance(code, int) and 400 <= code <= 599 else 500
        raise _parse_refusal(status, {"error": detail})
    return _parse_shape(Reply, event)
