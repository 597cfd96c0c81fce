"""Check of a cloud for the doctor: it counts the tokens of one word, which costs nothing.

Clouds have no list of models behind the same credentials. Their client signs the call, so this needs the SDK.
"""

from __future__ import annotations

import anthropic

from bot.adapters.models.claude.clouds import CloudClient, ModelNaming
from bot.adapters.models.claude.errors import CALL_ERRORS, read_error_type, translate_claude_errors
from bot.platform.http.bounded_calls import bound_requests

# these say nothing about access and model, unless the service itself says so
_INCONCLUSIVE = {400, 404, 405, 501}


class CloudProbe:
    """``ModelProbe`` over the counting of tokens. ``timeout`` is the seconds that one call may take."""

    def __init__(self, client: CloudClient, naming: ModelNaming, timeout: float) -> None:
        self._client = client
        self._naming = naming
        self._timeout = timeout

    def has_model(self, model: str) -> bool | None:
        """Return whether the credentials may use a model, None if only a message would show it."""
        try:
            with bound_requests(self._timeout):
                self._client.messages.count_tokens(
                    model=self._naming.name_model(model), messages=[{"role": "user", "content": "Hello"}]
                )
        except CALL_ERRORS as error:
            if isinstance(error, anthropic.APIStatusError) and error.status_code in _INCONCLUSIVE:
                return False if _is_missing(error, model) else None
            raise translate_claude_errors(error) from error
        return True


def _is_missing(error: anthropic.APIStatusError, model: str) -> bool:
    """Return whether the service reports that there is no such model; a missing address is another 404."""
    return read_error_type(error) == "not_found_error" and model in error.message
