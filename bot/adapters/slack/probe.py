"""Checks of Slack for the doctor: one attempt each, with a short timeout."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from slack_sdk.errors import SlackApiError
from slack_sdk.web import SlackResponse

from bot.adapters.slack.errors import translate_slack_errors
from bot.adapters.slack.messenger import parse_workspace
from bot.adapters.slack.scopes import SCOPES
from bot.adapters.slack.transport import BoundedWebClient
from bot.domain.operations.app_manifest import PREVIEW_SCOPES
from bot.platform.http.server_time import parse_server_time
from bot.ports.probes import Installation

_APP_TOKEN = "SLACK_APP_TOKEN to the app's token (xapp-…)"  # noqa: S105 (its name)


class SlackBotProbe:
    """``SlackProbe`` over the Web API. ``timeout`` is in seconds."""

    def __init__(self, token: str, base_url: str, timeout: int) -> None:
        self._client = BoundedWebClient(token, base_url=base_url, timeout=timeout, retry_handlers=[])

    def fetch_installation(self) -> Installation:
        """Check the token. Slack returns its scopes in the headers of the answer."""
        answer = self._identity
        return Installation(
            str(answer["team"]),
            _find_missing_scopes(answer.headers, SCOPES),
            parse_server_time(answer.headers),
            _find_missing_scopes(answer.headers, PREVIEW_SCOPES) or {},
        )

    def fetch_team(self) -> str:
        """Return the id of the workspace from the check of the token."""
        return parse_workspace(self._identity)

    @cached_property
    def _identity(self) -> SlackResponse:
        """Slack's answer to the token, asked for once."""
        with translate_slack_errors():
            return self._client.auth_test()

    def check_channel(self, name: str) -> str:
        """Return the name of a channel in which the bot can post.

        Direct messages have neither a name nor members who could leave.
        """
        with translate_slack_errors(name):
            answer = self._client.conversations_info(channel=name)
            info = answer["channel"]
            if info.get("is_im"):
                return "direct messages"
            if info.get("is_archived"):
                raise _build_refusal(answer, "is_archived")
            if not info.get("is_member"):
                raise _build_refusal(answer, "not_in_channel")
        return f"#{info['name']}"


class SocketModeProbe:
    """``AppProbe`` over the Web API. ``timeout`` is in seconds."""

    def __init__(self, token: str, base_url: str, timeout: int) -> None:
        self._token = token
        self._client = BoundedWebClient(base_url=base_url, timeout=timeout, retry_handlers=[])

    def connect(self) -> None:
        """Ask for the address of a connection, without using it."""
        with translate_slack_errors(token=_APP_TOKEN):
            self._client.apps_connections_open(app_token=self._token)


def _build_refusal(answer: SlackResponse, code: str) -> SlackApiError:
    """Return the error that Slack would return for a post."""
    answer.data = {"ok": False, "error": code}
    return SlackApiError(code, answer)  # type: ignore[no-untyped-call]


def _find_missing_scopes(headers: Mapping[str, str], needed: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return the missing scopes with the effect of each, None if Slack does not send the scopes."""
    scopes_header = {name.lower(): value for name, value in headers.items()}.get("x-oauth-scopes")
    if scopes_header is None:
        return None
    granted = {scope.strip() for scope in scopes_header.split(",")}
    return {scope: loss for scope, loss in needed.items() if scope not in granted}
