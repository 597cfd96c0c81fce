"""HTTP client of an OpenAI-compatible server: bounded in time and size, and with nothing of the environment in it.

A redirect is an error, so that neither the key nor a prompt goes to another host. Answers are not decompressed: a
few kilobytes could become gigabytes.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2

from bot.adapters.models.openai_compatible import sentences
from bot.adapters.models.openai_compatible.errors import (
    WrongService,
    parse_refusal,
    parse_stream_refusal,
)
from bot.domain.errors import ModelBusy, ModelRequestRejected
from bot.platform.http import model_sentences
from bot.platform.http.bounded_calls import DeadlineExceeded, bound_requests
from bot.platform.http.httpx_clients import get_tls_context, track_connections
from bot.ports import ModelAccess

# bytes; a longest answer of 32,000 tokens has a tenth of that
MAX_BODY_BYTES = 4_000_000
# of one event; servers send some tokens in each
_MAX_EVENT_BYTES = 1_000_000
# characters of all events of a stream; each token comes with some 300 of JSON around it
_MAX_STREAM_CHARACTERS = 32_000_000
# of an error
_MAX_ERROR_BYTES = 100_000
# the use of a kept connection is not reported before it answers
_NO_KEEPALIVE = httpx2.Limits(max_connections=1_000, max_keepalive_connections=0)
_END_OF_STREAM = "[DONE]"


class ServerClient:
    """Client of one server. May be shared by threads."""

    def __init__(self, access: ModelAccess) -> None:
        self._address = access.address.rstrip("/")
        # such a key does not fit into a header
        self._has_bad_key = not (access.key.isascii() and access.key.isprintable())
        headers = {"Accept-Encoding": "identity", "User-Agent": "prdigest"}
        if access.key and not self._has_bad_key:
            headers["Authorization"] = f"Bearer {access.key}"
        self._client = httpx2.Client(
            headers=headers, follow_redirects=False, verify=get_tls_context(), limits=_NO_KEEPALIVE
        )
        track_connections(self._client)

    def fetch_json(
        self, path: str, body: Mapping[str, Any] | None = None, *, seconds: float, silence: float | None = None
    ) -> dict[str, Any]:
        """Return the object that answers a request: of ``body``, or else a GET.

        ``seconds`` limit the whole call, ``silence`` each pause in it.

        Raises:
            ServerRefusal, WrongService: the server reports an error, or it is another one.
            ModelBusy, ModelRequestRejected: it can't be reached in time, or its answer is too large.
        """
        with self._open(path, body, seconds, silence or seconds) as answer:
            return _parse_object(_read_body(answer, MAX_BODY_BYTES))

    def stream_events(
        self, path: str, body: Mapping[str, Any], *, seconds: float, silence: float
    ) -> Generator[dict[str, Any], None, None]:
        """Yield the objects of a stream up to its end mark. Raises what ``fetch_json`` raises."""
        size = 0
        with self._open(path, body, seconds, silence) as answer:
            for event in httpx2.EventSource(answer, _MAX_EVENT_BYTES):
                size += len(event.data)
                if size > _MAX_STREAM_CHARACTERS:
                    raise ModelBusy(sentences.TOO_LARGE)
                if event.data.strip() == _END_OF_STREAM:
                    return
                if event.data:
                    yield _parse_event(event.data)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    @contextmanager
    def _open(
        self, path: str, body: Mapping[str, Any] | None, seconds: float, silence: float
    ) -> Iterator[httpx2.Response]:
        """Open the answer to a request, without its body. It is a success."""
        if self._has_bad_key:
            raise ModelRequestRejected(sentences.KEY_REFUSED)
        method, timeout = "GET" if body is None else "POST", httpx2.Timeout(silence)
        try:
            with (
                bound_requests(seconds),
                self._client.stream(method, self._address + path, json=body, timeout=timeout) as answer,
            ):
                _check_answer(answer)
                yield answer
        except (DeadlineExceeded, httpx2.TimeoutException) as error:
            raise ModelBusy(model_sentences.MODEL_TIMED_OUT) from error
        except (httpx2.SSEError, UnicodeError) as error:
            # another type of content, an event without an end, or no text
            raise WrongService from error
        except httpx2.ConnectError as error:
            raise ModelBusy(model_sentences.MODEL_UNREACHABLE) from error
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
            raise ModelBusy(model_sentences.CONNECTION_BROKE) from error


def _check_answer(answer: httpx2.Response) -> None:
    """Raise ServerRefusal for an error or a redirect, WrongService for a body that would have to be decoded."""
    if answer.is_success and answer.status_code != 200:
        raise WrongService
    if not answer.is_success:
        try:
            body = json.loads(_read_body(answer, _MAX_ERROR_BYTES))
        except (ValueError, RecursionError, ModelBusy):
            body = None
        raise parse_refusal(answer.status_code, body, answer.headers.get("retry-after"))
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        raise WrongService


def _read_body(answer: httpx2.Response, limit: int) -> bytes:
    """Return a body as it came. Raises ModelBusy if it is longer than ``limit`` bytes."""
    body = bytearray()
    for piece in answer.iter_raw():
        body += piece
        if len(body) > limit:
            raise ModelBusy(sentences.TOO_LARGE)
    return bytes(body)


def _parse_object(data: bytes | str) -> dict[str, Any]:
    """Return the object in JSON. Raises WrongService."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WrongService from error
    if not isinstance(value, dict):
        raise WrongService
    return value


def _parse_event(data: str) -> dict[str, Any]:
    """Return the object of an event. Raises ServerRefusal if it is an error, which comes after a success too."""
    event = _parse_object(data)
    if event.get("error"):
        raise parse_stream_refusal(event["error"])
    if event.get("object") == "error":
        raise parse_stream_refusal(event)
    return event
