"""Translation of Slack's errors into sentences that say what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from urllib.error import HTTPError

from slack_sdk.errors import SlackApiError, SlackClientError

from bot.adapters.slack.transport import UnreadableAnswer
from bot.domain.errors import PrdigestError, SlackCallRefused, SlackUnavailable
from bot.platform.http.bounded_calls import DeadlineExceeded
from bot.platform.http.retry_after import parse_retry_after

_SENTENCES = {
    "not_in_channel": "The bot is not in channel {channel}: invite it there with /invite @prdigest.",
    "channel_not_found": (
        "Slack has no channel {channel}, or it is private and the bot is not in it: check its id."
    ),
    "is_archived": "Channel {channel} is archived: choose another one.",
    "invalid_auth": "Slack rejected the token: set {token}.",
    "not_authed": "Slack received no token: set {token}.",
    "not_allowed_token_type": "That is the wrong kind of token: set {token}.",
    "account_inactive": "The bot was removed from this workspace: install it again and set SLACK_BOT_TOKEN.",
    "token_revoked": "The token was revoked: install the bot again and set SLACK_BOT_TOKEN.",
    "restricted_action": "The workspace does not let the bot post in {channel}: ask its administrator.",
}
_SERVER_ERROR = "Slack answered with a server error: try again in a few minutes."
_ERROR_CODE = re.compile(r"[a-z][a-z_]{2,60}")
# seconds to pause if Slack does not say how long
_DEFAULT_PAUSE = 3.0
_UNCERTAIN_CODES = {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}


_BOT_TOKEN = "SLACK_BOT_TOKEN to the bot's token (xoxb-…)"  # noqa: S105 (its name)


@contextmanager
def translate_slack_errors(channel: str = "", token: str = _BOT_TOKEN) -> Iterator[None]:
    """Raise errors of the domain in place of what slack_sdk raises in the block.

    ``channel`` and ``token`` are what the sentence names if the call failed because of them.

    Raises:
        SlackCallRefused: the call had no effect.
        SlackUnavailable: the call may have had its effect.
    """
    try:
        yield
    except SlackApiError as error:
        raise _translate_response(error, channel, token) from error
    except DeadlineExceeded as error:
        raise SlackUnavailable("Slack answers too slowly: try again in a few minutes.") from error
    except UnreadableAnswer as error:
        raise SlackUnavailable(_SERVER_ERROR) from error
    # the SDK does not translate errors of the socket
    except (SlackClientError, HTTPException, OSError) as error:
        if isinstance(error, HTTPError):
            error.close()
        raise SlackUnavailable("Slack can't be reached: check SLACK_API_URL and the network.") from error


def _translate_response(error: SlackApiError, channel: str, token: str) -> PrdigestError:
    """Return the error of the domain for an error response."""
    answer = error.response
    status = getattr(answer, "status_code", 200)
    code = str(answer.get("error", "")) if isinstance(getattr(answer, "data", None), dict) else ""
    # Slack's own errors are words; anything else is a page from a proxy in between
    if status >= 500 or code in _UNCERTAIN_CODES or not _ERROR_CODE.fullmatch(code):
        return SlackUnavailable(_SERVER_ERROR)
    if code == "ratelimited":
        sentence = "Slack limited the rate several times: try again in a few minutes."
        return SlackUnavailable(sentence, _read_retry_after(error))
    if code == "missing_scope":
        needed = answer.get("needed") or "another scope"
        return SlackCallRefused(f"The bot lacks the scope {needed}: add it to the app and install it again.", code)
    sentence = _SENTENCES.get(code, "Slack refused the call: {code}.")
    return SlackCallRefused(sentence.format(channel=channel, token=token, code=code or f"status {status}"), code)


def _read_retry_after(error: SlackApiError) -> float:
    """Return the seconds of the pause that Slack asks for, 3 if it names none."""
    pause = parse_retry_after(str(error.response.headers.get("Retry-After", "")))
    return _DEFAULT_PAUSE if pause is None else pause
