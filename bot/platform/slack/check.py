"""The doctor's checks of Slack: the tokens, the scopes, the channels. Each call is tried once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from slack_sdk.errors import SlackApiError
from slack_sdk.web import SlackResponse

from bot.errors import PrdigestError, SlackCallRefused, SlackUnavailable
from bot.platform.finding import Finding
from bot.platform.http.headers import parse_server_time
from bot.platform.slack.client import BoundedWebClient, translate_slack_errors
from bot.platform.slack.messenger import list_scopes, parse_workspace
from bot.settings import Settings, require_secret

# the scopes of manifest.json, each scope with what does not work without it
SCOPES = {
    "app_mentions:read": "the bot receives no mentions",
    "channels:history": "the bot receives no replies in public channels, and can't continue an interrupted digest",
    "channels:read": "nobody can subscribe public channels",
    "chat:write": "nothing is posted",
    "commands": "there are no slash commands",
    "files:write": "reports are not attached",
    "groups:history": "the bot receives no replies in private channels, and can't continue an interrupted digest",
    "groups:read": "nobody can subscribe private channels",
    "im:history": "the bot receives no direct messages",
    "im:read": "nobody can subscribe in direct messages",
    "im:write": "the bot can't send digests and notices as direct messages",
    "mpim:history": "the bot receives no group direct messages",
    "mpim:read": "nobody can subscribe in group direct messages",
    "users:read": "people's time zones and roles are unknown",
}
TOKEN, SCOPE_CHECK, APP_TOKEN = "Slack token", "Slack scopes", "Slack app token"
NO_ANSWER = "Slack does not answer"
_APP_TOKEN_ADVICE = "SLACK_APP_TOKEN to the app's token (xapp-…)"  # noqa: S105 (its name)
_CHANNEL_PROBLEMS = {
    "not_in_channel": "the bot is not in it",
    "channel_not_found": "not found",
    "is_archived": "archived",
}


@dataclass(frozen=True, slots=True)
class BotAccess:
    client: BoundedWebClient
    identity: SlackResponse

    def read_workspace(self) -> str:
        """Return the id of the workspace, or of the organization that the bot is installed in."""
        return parse_workspace(self.identity)

    def find_missing_scopes(self, needed: Mapping[str, str]) -> Mapping[str, str] | None:
        """Return the missing scopes by the headers of the answer, None if Slack sends none."""
        granted = list_scopes(self.identity)
        return None if granted is None else {scope: needed[scope] for scope in needed if scope not in granted}


def check_slack(
    settings: Settings, now: Callable[[], datetime], seconds: int
) -> Generator[Finding, None, tuple[BotAccess | str, timedelta | None]]:
    """Check the token and its scopes; return access or why there is none, and how far Slack's clock is ahead."""
    try:
        token = require_secret(settings.slack_bot_token, "SLACK_BOT_TOKEN", "the bot's token (xoxb-…)")
        client = BoundedWebClient(token, base_url=settings.slack_api_url, timeout=seconds, retry_handlers=[])
        with translate_slack_errors():
            access = BotAccess(client, client.auth_test())
    except PrdigestError as error:
        yield Finding.build_error(TOKEN, error)
        cause = NO_ANSWER if isinstance(error, SlackUnavailable) else f"see {TOKEN} above"
        yield Finding.build_unchecked(SCOPE_CHECK, cause)
        return cause, None
    yield Finding.build_success(TOKEN, f"accepted, the workspace is {access.identity['team']}")
    missing = access.find_missing_scopes(SCOPES)
    if missing is None:
        yield Finding.build_note(SCOPE_CHECK, "not checked: Slack does not send them")
    elif not missing:
        yield Finding.build_success(SCOPE_CHECK, "complete")
    for scope, loss in (missing or {}).items():
        advice = (
            f"Add {scope} to the app, or update its manifest from `prdigest manifest`, then install the app again."
        )
        yield Finding.build_failure(f"Slack scope {scope}", f"missing: {loss}", advice)
    time = parse_server_time(access.identity.headers)
    return access, time - now() if time else None


def check_app_token(settings: Settings, slack: BotAccess | str, seconds: int) -> Iterator[Finding]:
    """Ask for a connection in Socket Mode with the app's own token, without using it."""
    if slack == NO_ANSWER:
        yield Finding.build_unchecked(APP_TOKEN, NO_ANSWER)
        return
    token = settings.slack_app_token.get_secret_value() if settings.slack_app_token else ""
    client = BoundedWebClient(base_url=settings.slack_api_url, timeout=seconds, retry_handlers=[])
    try:
        with translate_slack_errors(token=_APP_TOKEN_ADVICE):
            client.apps_connections_open(app_token=token)
    except PrdigestError as error:
        yield Finding.build_error(APP_TOKEN, error)
    else:
        yield Finding.build_success(APP_TOKEN, "accepted, for Socket Mode")


def check_channels(slack: BotAccess | str, uses: Mapping[str, str]) -> Iterator[Finding]:
    for channel, use in uses.items():
        name = f"Channel {channel} ({use})"
        if isinstance(slack, str):
            yield Finding.build_unchecked(name, slack)
            continue
        try:
            shown = _find_channel(slack.client, channel)
            yield Finding.build_success(name, f"{shown}, the bot can post there")
        except SlackCallRefused as error:
            if error.code == "missing_scope":
                yield Finding.build_unchecked(name, "the bot lacks a scope (see above)")
            else:
                yield Finding.build_failure(name, _CHANNEL_PROBLEMS.get(error.code, "refused"), str(error))
        except SlackUnavailable as error:
            # Slack is not called again
            if error.retry_after is None:
                yield Finding.build_error(name, error)
                slack = NO_ANSWER
            else:
                slack = "Slack limits the rate"
                yield Finding.build_unchecked(name, slack)


def _find_channel(client: BoundedWebClient, channel: str) -> str:
    """Return what people call a channel. Raises SlackCallRefused if the bot can't post there, SlackUnavailable."""
    with translate_slack_errors(channel):
        answer = client.conversations_info(channel=channel)
        info = answer["channel"]
        # these have neither a name nor members who could leave
        if info.get("is_im"):
            return "direct messages"
        if info.get("is_archived") or not info.get("is_member"):
            # as Slack would answer to a post
            code = "is_archived" if info.get("is_archived") else "not_in_channel"
            answer.data = {"ok": False, "error": code}
            raise SlackApiError(code, answer)  # type: ignore[no-untyped-call]
    return f"#{info['name']}"
