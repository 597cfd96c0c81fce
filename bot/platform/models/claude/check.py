"""The doctor's check of Claude: one short attempt that asks for no text, without the SDK, which is slow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import httpx2

from bot.errors import ModelBusy, ModelRequestRejected
from bot.platform.http.bounded_calls import DeadlineExceeded, bound_requests
from bot.platform.http.httpx_clients import build_client_options, track_connections
from bot.platform.models import ModelAccess, failures
from bot.platform.models.claude import KEY_REFUSED

_API_VERSION = "2026-10-21"  # which the SDK asks for too
# these say nothing about key and model: a gateway that passes messages on but has no such address answers so
INCONCLUSIVE = {400, 404, 405, 501}


def find_models(access: ModelAccess, models: Sequence[str], seconds: float) -> dict[str, bool | None]:
    """Return which models the key may use; None if only a message would show it. The Models API costs nothing."""
    return {model: _has_model(_request_model(access, model, seconds), model) for model in models}


def _has_model(answer: httpx2.Response, model: str) -> bool | None:
    if answer.status_code in (401, 403):
        raise ModelRequestRejected(KEY_REFUSED)
    if answer.status_code in INCONCLUSIVE:
        # Claude itself says that there is no such model; a missing address is another 404
        missing = {"type": "not_found_error", "message": f"model: {model}"}
        return False if _parse_object(answer).get("error") == missing else None
    if not answer.is_success:
        raise ModelBusy(failures.MODEL_BUSY)
    body = _parse_object(answer)
    if "model" in (body.get("type"), body.get("object")):
        # the second is how a gateway says it that speaks OpenAI's protocol here
        return True
    if "data" in body or "id" in body:
        return None
    raise ModelBusy(failures.WRONG_SERVICE)


def _request_model(access: ModelAccess, model: str, seconds: float) -> httpx2.Response:
    address = f"{access.address.rstrip('/')}/v1/models/{quote(model, safe='')}"
    headers = {"Authorization": f"Bearer {access.key}", "anthropic-version": _API_VERSION}
    try:
        with bound_requests(seconds), httpx2.Client(timeout=seconds, **build_client_options(address)) as client:
            track_connections(client)
            return client.get(address, headers=headers)
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
