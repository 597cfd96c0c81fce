"""How the tests of the Slack emulator call it, and what they read in its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from localslack.server.local_slack import LocalSlack
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

Json = dict[str, Any]
HOME = "C0DIGEST"
TOKEN = "xoxb-test"
META: Json = {"event_type": "digest", "event_payload": {"prs": [1, 2]}}


def client_of(slack: LocalSlack, token: str = TOKEN) -> WebClient:
    """Without the client's own retry, so that a call is one call."""
    return WebClient(token=token, base_url=slack.url, timeout=5, retry_handlers=[])


def refusal(call: Callable[[], Any]) -> Any:
    with pytest.raises(SlackApiError) as caught:
        call()
    return caught.value.response


def ts_of(answer: Any) -> str:
    return str(answer["ts"])


def texts(messages: list[Json]) -> list[str]:
    return [message["text"] for message in messages]
