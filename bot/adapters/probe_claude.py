"""Claude as the doctor asks it: once, with little patience, and never for words."""

from __future__ import annotations

import anthropic
from anthropic import Anthropic
from anthropic.types import ModelInfo

from bot.adapters.claude_errors import in_words
from bot.domain.errors import ModelBusy

# of the key and the model: so answers what passes messages on and has no such address
_SAY_NOTHING = {400, 404, 405, 501}


class ClaudeProbe:
    """``ModelProbe`` over the Models API, which costs nothing. ``timeout`` is in seconds."""

    def __init__(self, api_key: str, base_url: str, timeout: int) -> None:
        self._client = Anthropic(api_key=api_key, base_url=base_url, timeout=timeout, max_retries=0)

    def knows(self, model: str) -> bool | None:
        """Whether the key may use a model of that name; None where only a message would show it."""
        try:
            found: object = self._client.models.retrieve(model)
        except anthropic.APIStatusError as error:
            if error.status_code in _SAY_NOTHING:
                return False if _is_missing(error, model) else None
            raise in_words(error) from error
        except anthropic.APIError as error:
            raise in_words(error) from error
        if not isinstance(found, ModelInfo):
            # a page of whoever stands between comes as it is, whatever the SDK's types say
            raise ModelBusy("something else than the model answered")
        return True


def _is_missing(error: anthropic.APIStatusError, model: str) -> bool:
    """Whether Claude itself says that there is no such model; an address that is not there is another 404."""
    detail = error.body.get("error") if isinstance(error.body, dict) else None
    told = detail.get("message") if isinstance(detail, dict) else None
    return error.type == "not_found_error" and told == f"model: {model}"
