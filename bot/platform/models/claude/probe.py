"""Check of Claude for the doctor: one attempt with a short timeout, which asks for no text.

It works without the SDK, which takes longer to import than the whole doctor runs.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx2

from bot.domain.errors import ModelBusy, ModelRequestRejected
from bot.platform.http.bounded_calls import DeadlineExceeded, bound_requests
from bot.platform.http.httpx_clients import get_tls_context, track_connections
from bot.platform.models import failures
from bot.platform.models.claude import KEY_REFUSED

_API_VERSION = "2026-10-21"  # which the SDK asks for too
# these say nothing about key and model: a gateway that passes messages on but has no such address answers so
INCONCLUSIVE = {400, 404, 405, 501}


class ClaudeProbe:
    """``ModelProbe`` over the Models API, which costs nothing. ``timeout`` is in seconds."""

    def __init__(self, api_key: str, base_url: str, timeout: float) -> None:
        self._address = f"{base_url.rstrip('/')}/v1/models/"
        self._headers = {"Authorization": f"Bearer {api_key}", "anthropic-version": _API_VERSION}
        self._timeout = timeout

    def has_model(self, model: str) -> bool | None:
        """Return whether the key may use a model of that name, None if only a message would show it."""
        answer = self._request_model(model)
        if answer.status_code in (401, 403):
            raise ModelRequestRejected(KEY_REFUSED)
        if answer.status_code in INCONCLUSIVE:
            # Claude itself says that there is no such model; a missing address is another 404
            missing = {"type": "not_found_error", "message": f"model: {model}"}
            return False if _parse_object(answer).get("error") == missing else None
        if not answer.is_success:
            raise ModelBusy(failures.MODEL_BUSY)
        if _parse_object(answer).get("type") != "model":
            raise ModelBusy(failures.WRONG_SERVICE)
        return True

    def _request_model(self, model: str) -> httpx2.Response:
        try:
            with (
                bound_requests(self._timeout),
                httpx2.Client(timeout=self._timeout, follow_redirects=False, verify=get_tls_context()) as client,
            ):
                track_connections(client)
                return client.get(self._address + quote(model, safe=""), headers=self._headers)
        except UnicodeEncodeError as error:
            # such a key does not fit into a header
            raise ModelRequestRejected(KEY_REFUSED) from error
        except (DeadlineExceeded, httpx2.TimeoutException) as error:
            raise ModelBusy(failures.MODEL_TIMED_OUT) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ModelBusy(failures.MODEL_UNREACHABLE) from error


def _parse_object(answer: httpx2.Response) -> dict[str, Any]:
    """Return the object of an answer, empty for another answer, such as the page of a proxy."""
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
