from typing import Any

from localslack.server.local_slack import LocalSlack
from slack_sdk import WebClient

Json = dict[str, Any]
HOME = "C0DIGEST"
TOKEN = "xoxb-test"


def client_of(slack: LocalSlack, token: str = TOKEN) -> WebClient:
    """Without the client's own retry, so that a call is one call."""
    return WebClient(token=token, base_url=slack.url, timeout=5, retry_handlers=[])
