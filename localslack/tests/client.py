"""How the tests call the local Slack, and what they read in its answers."""

from collections.abc import Callable
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from localslack.server.local_slack import LocalSlack

Json = dict[str, Any]
HOME = "C0GENERAL"
TOKEN = "xoxb-test"
META: Json = {"event_type": "report", "event_payload": {"prs": [1, 2]}}


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
