"""The context window: requests are shortened to it before a server refuses them."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from typing import Any

from bot.adapters.models.openai_compatible import sentences
from bot.adapters.models.openai_compatible.client import ServerClient
from bot.adapters.models.openai_compatible.errors import ServerRefusal, WrongService
from bot.adapters.models.openai_compatible.replies import parse_models
from bot.domain.errors import ModelError, ModelInputTooLong
from bot.domain.operations.usage import Usage

log = logging.getLogger(__name__)

# the least number of bytes of UTF-8 in a token: 3 or 4 letters of English and code, one sign of other scripts
_BYTES_PER_TOKEN = 3
# what a template adds around the messages
_TEMPLATE_TOKENS = 200
# with less room than that, most answers are cut
_MIN_OUTPUT_TOKENS = 1_000
_LIST_SECONDS = 10.0
_LEFT_OUT = "[Left out: the conversation is too long. Call the tool again if you need this.]"


class ContextWindow:
    """The length of the models' context windows in tokens. May be shared by threads.

    ``tokens`` is what the operator set. Without it the server is asked, once.
    """

    def __init__(self, client: ServerClient, tokens: int | None) -> None:
        self._client = client
        self._tokens = tokens
        self._listed: Mapping[str, int | None] | None = None
        self._lock = threading.Lock()

    def get_length(self, model: str) -> int | None:
        """Return the length of a model's window, None if nobody says it."""
        if self._tokens is not None:
            return self._tokens
        with self._lock:
            if self._listed is None:
                self._listed = self._list_lengths()
            return (self._listed or {}).get(model)

    def _list_lengths(self) -> Mapping[str, int | None] | None:
        """Return what the server says, None if it is not there. One that has no such list is not asked again."""
        try:
            models = parse_models(self._client.fetch_json("/models", seconds=_LIST_SECONDS))
        except (ServerRefusal, WrongService):
            return {}
        except ModelError as error:
            log.info("the length of the context window is not known: %s", error)
            return None
        return {model.id: model.max_model_len for model in models.data}


def fit_body(body: dict[str, Any], window: int | None) -> dict[str, Any]:
    """Return a request that fits into a window: with a shorter answer, and without the oldest results of tools.

    Nothing else is cut. A text is data between marks, and half of it could lose its mark.

    Raises:
        ModelInputTooLong: that is not enough.
    """
    if window is None:
        return body
    needed = min(body["max_tokens"], _MIN_OUTPUT_TOKENS)
    messages = list(body["messages"])
    room = window - estimate_prompt({**body, "messages": messages})
    for index, message in enumerate(messages):
        if room >= needed:
            break
        if message["role"] == "tool" and len(message["content"]) > len(_LEFT_OUT):
            messages[index] = {**message, "content": _LEFT_OUT}
            room = window - estimate_prompt({**body, "messages": messages})
    if room < needed:
        raise ModelInputTooLong(sentences.TOO_LONG, needed - room)
    return {**body, "messages": messages, "max_tokens": min(body["max_tokens"], room)}


def estimate_prompt(body: Mapping[str, Any]) -> int:
    """Return the most tokens that the prompt of a request has."""
    parts = [body["messages"], body.get("tools"), body.get("response_format")]
    size = sum(len(json.dumps(part, ensure_ascii=False).encode(errors="replace")) for part in parts if part)
    return size // _BYTES_PER_TOKEN + _TEMPLATE_TOKENS


def estimate_usage(body: Mapping[str, Any], characters: int) -> Usage:
    """Return the usage of a call that the server does not report, rather too high than too low."""
    return Usage(input=estimate_prompt(body), output=-(-characters // _BYTES_PER_TOKEN))
