"""Slack's own agent as a client of this server: each request is signed by Slack, and names who asks.

Slack calls that "Slack identity auth" (docs.slack.dev/ai/slackbot-mcp-client): the signature of all its requests,
and in ``_meta.slack`` of a call the ids of the person and of their workspace. Nothing in a request counts before
its signature does, and each that names somebody counts once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

from bot.app import App
from bot.errors import SlackCallRefused, UsageError
from bot.platform.slack.client import SIGNATURE, is_signed
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.keys import SIGNED_REQUEST

_ID = re.compile(r"[A-Z][A-Z0-9]{1,30}", re.A)
_UNSIGNED = "The request is not signed by Slack for this app, or is older than five minutes."


class SlackbotDoor:
    """Admits what Slack signs with the ``secret`` of this bot's app. Threads may share it."""

    def __init__(self, app: App, secret: str) -> None:
        self._app = app
        self._secret = secret

    def admit(self, headers: Mapping[str, str], body: bytes) -> SlackRequest:
        """Return who asks, nobody where Slack names nobody. Raises UsageError for a refusal, StoreUnavailable."""
        if not is_signed(self._secret, headers, body):
            raise UsageError(_UNSIGNED)
        signature = sha256(headers[SIGNATURE].encode()).hexdigest()
        identity = _read_identity(body)
        team, user, enterprise = (_read_id(identity, name) for name in ("team_id", "user_id", "enterprise_id"))
        # what names nobody gets no data, and two people who begin in the same second send the same bytes
        if user and not self._app.cache.add(SIGNED_REQUEST.build_key(signature), "1", SIGNED_REQUEST.lifetime):
            raise UsageError("This request came before: send a new one.")
        return SlackRequest(f"slackbot:{signature}", team, "", user, enterprise)


def _read_identity(body: bytes) -> Mapping[str, Any]:
    node: Any = None
    with suppress(ValueError, RecursionError):
        node = json.loads(body)
    for name in ("params", "_meta", "slack"):
        node = node.get(name) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


def _read_id(identity: Mapping[str, Any], name: str) -> str:
    value = identity.get(name)
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


def explain_refusal(app: App, asker: SlackRequest) -> str:
    """Return why a person gets no answer, empty if they may ask. Raises SlackUnavailable and StoreUnavailable.

    Slack's agent says in no channel where it was asked: where some alone may ask, it has to be somebody of these.
    """
    if not asker.user:
        return "Slack does not say who asks."
    # one without a workspace, too, which is looked up elsewhere
    if refusal := app.access_control.explain_exclusion(asker) or app.access_control.explain_refusal(asker):
        return refusal
    channels = app.settings.prdigest_allowed_channels
    is_there = not channels or any(_is_member(app, channel, asker.user) for channel in sorted(channels))
    return "" if is_there else "I only answer people of some channels: ask the bot's admin."


def _is_member(app: App, channel: str, user: str) -> bool:
    with suppress(SlackCallRefused):
        return app.directory.is_channel_member(channel, user)
    return False
