"""Claude as the doctor asks it: once, with little patience, and never for words."""

from __future__ import annotations

import anthropic
from anthropic import Anthropic
from anthropic.types import ModelInfo

from bot.adapters.claude_errors import in_words
from bot.domain.errors import ModelBusy


class ClaudeProbe:
    """``ModelProbe`` over the Models API, which costs nothing. ``timeout`` is in seconds."""

    def __init__(self, api_key: str, base_url: str, timeout: int) -> None:
        self._client = Anthropic(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0)

    def knows(self, model: str) -> bool:
        """Whether the key may use a model of that name."""
        try:
            found: object = self._client.models.retrieve(model)
        except anthropic.APIError as error:
            if isinstance(error, anthropic.NotFoundError) and error.type == "not_found_error":
                return False
            raise in_words(error) from error
        if not isinstance(found, ModelInfo):
            # a page of whoever stands between comes as it is, whatever the SDK's types say
            raise ModelBusy("something else than the model answered")
        return True
