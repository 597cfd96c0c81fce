"""Translation of an OpenAI-compatible server's errors into those of the domain."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.adapters.models.openai_compatible import sentences
from bot.domain.errors import ModelBusy, ModelError, ModelInputTooLong, ModelRequestRejected
from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.platform.http import model_sentences
from bot.platform.http.retry_after import parse_retry_after

log = logging.getLogger(__name__)

# of a server's own words in the log
_MAX_DETAIL_LENGTH = 300
_BUSY_STATUSES = {408, 409, 425, 429}
# vLLM: "This model's maximum context length is 8192 tokens", "longer than the maximum model length"; llama.cpp:
# "exceeds the available context size"; OpenAI and gateways: the code
_TOO_LONG = re.compile(r"context[ _](?:length|window|size)|maximum model length|max_model_len", re.IGNORECASE)
_BRACKET = re.compile(r"[\[{]")
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
        return self.status in (400, 415, 422) and not self.is_too_long

    @property
    def is_too_long(self) -> bool:
        """Whether the request does not fit into the model's context window."""
        return self.status in (400, 413, 422) and bool(_TOO_LONG.search(f"{self.code} {self.message}"))

    @property
    def refuses_tools(self) -> bool:
        """Whether the server was started without what tools need."""
        return self.status in (400, 422) and bool(_NO_TOOLS.search(self.message))


def parse_refusal(status: int, body: object, retry_after: str | None = None) -> ServerRefusal:
    """Return the error in a body.

    It is ``{"error": {"message": …, "code": …}}``, without the outer object in earlier versions of vLLM, or
    ``{"error": "Unauthorized"}``. Other bodies are none of the server's.
    """
    detail = body.get("error", body) if isinstance(body, dict) else None
    pause = parse_retry_after(retry_after)
    if isinstance(detail, str):
        return ServerRefusal(status, "", detail, is_reported=True, retry_after=pause)
    if isinstance(detail, dict) and isinstance(detail.get("message"), str):
        code = f"{detail.get('code') or ''} {detail.get('type') or ''}"
        return ServerRefusal(status, code, detail["message"], is_reported=True, retry_after=pause)
    return ServerRefusal(status, retry_after=pause)


def parse_stream_refusal(detail: object) -> ServerRefusal:
    """Return the error in an event of a stream, whose status was a success. The code may be another status."""
    code: Any = detail.get("code") if isinstance(detail, dict) else None
    status = code if isinstance(code, int) and 400 <= code <= 599 else 500
    return parse_refusal(status, {"error": detail})


class OperatorAdvice:
    """Advice for operators in the log, each sentence once. It is of no use to readers of an answer."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def log_once(self, advice: str) -> None:
        """Log a sentence, unless it was logged before."""
        if advice not in self._logged:
            self._logged.add(advice)
            log.warning(advice)

    def report_wrong_service(self) -> ModelBusy:
        """Return the error for an answer that is not one of the protocol, and log advice."""
        self.log_once(sentences.ADDRESS_ADVICE)
        return ModelBusy(model_sentences.WRONG_SERVICE)

    def translate_refusal(self, refusal: ServerRefusal) -> ModelError:
        """Return the error of the domain, and log which setting may be at fault."""
        if refusal.status in _BUSY_STATUSES or refusal.status >= 500:
            return ModelBusy(model_sentences.MODEL_BUSY, refusal.retry_after)
        if refusal.is_too_long:
            return ModelInputTooLong(sentences.TOO_LONG)
        sentence, advice = _explain_rejection(refusal)
        self.log_once(advice)
        return ModelRequestRejected(sentence)


def _explain_rejection(refusal: ServerRefusal) -> tuple[str, str]:
    """Return what people read of a request that was rejected for good, and what operators read."""
    status = refusal.status
    if status < 400:
        return sentences.REDIRECTED, sentences.REDIRECT_ADVICE
    if refusal.refuses_tools:
        return sentences.NO_TOOLS, sentences.TOOLS_ADVICE
    if status == 404 and not refusal.is_reported:
        return sentences.WRONG_PATH, sentences.ADDRESS_ADVICE
    if status in _REJECTIONS:
        return _REJECTIONS[status]
    detail = _quote_detail(refusal.message)
    advice = f"The model's server rejected the request with status {status}: {detail or 'it does not say why'}"
    return model_sentences.format_rejection(status), advice


def _quote_detail(message: str) -> str:
    """Return a server's own words for the log, up to a bracket: behind one, some repeat the request."""
    words = _BRACKET.split(redact_text(message), maxsplit=1)[0]
    return truncate_text(collapse_lines(words), _MAX_DETAIL_LENGTH)


_REJECTIONS: Mapping[int, tuple[str, str]] = {
    401: (sentences.KEY_REFUSED, sentences.KEY_ADVICE),
    403: (sentences.KEY_REFUSED, sentences.KEY_ADVICE),
    404: (model_sentences.MODEL_MISSING, sentences.MODEL_ADVICE),
}
