"""Messages and modals that only one person sees in Slack."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from slack_sdk import WebClient

from bot.adapters.slack.errors import translate_slack_errors
from bot.adapters.slack.transport import send_to_hook
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused, SlackUnavailable
from bot.platform.http.retry_after import parse_retry_after
from bot.ports import Post

log = logging.getLogger(__name__)

# seconds
_TIMEOUT = 10
# an address that all parsers read alike: no user, no backslash, no escapes in the name of the host
_PLAIN_URL = re.compile(r"(?P<scheme>https?)://(?P<host>[a-z0-9.-]{1,253})(?::\d{1,5})?/")


class SlackEphemeralMessenger:
    """``EphemeralMessenger`` over ``response_url``, or as an ephemeral message once that has expired.

    Slack accepts an ephemeral message for any thread, but shows it only in one that somebody has replied to. In
    direct messages, where nobody else is, it is an ordinary message.
    """

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def send(self, slack_request: SlackRequest, post: Post) -> None:
        """Send a message to the asker. Somebody who asks from App Home gets it as a direct message."""
        try:
            if not slack_request.channel:
                self._post_message(slack_request.user, post)
            elif not self.is_slack_url(slack_request.response_url):
                self._post_in_place(slack_request, post)
            elif not (slack_request.existing_thread and self._try_in_thread(slack_request, post)):
                self._send_response(slack_request, post)
        except SlackCallRefused as error:
            log.warning("the asker can't be reached [%s]: %s", slack_request.reference, error)

    def is_slack_url(self, address: str) -> bool:
        """Return whether a ``response_url`` leads to Slack, as to ``hooks.slack.com``.

        Answers must go nowhere else.
        """
        api, match = urlsplit(self._client.base_url), _PLAIN_URL.match(address)
        if not match or match["scheme"] != api.scheme:
            return False
        return match["host"] == api.hostname or match["host"].endswith(f".{api.hostname}")

    def _post_message(self, channel: str, post: Post, thread: str = "") -> None:
        """Post an ordinary message."""
        with translate_slack_errors():
            self._client.chat_postMessage(channel=channel, thread_ts=thread or None, **post.build_payload())

    def _post_in_place(self, slack_request: SlackRequest, post: Post) -> None:
        """Post where the message is that this answers."""
        if slack_request.is_direct:
            self._post_message(slack_request.channel, post, slack_request.existing_thread)
        else:
            self._post_ephemeral(slack_request, post)

    def _try_in_thread(self, slack_request: SlackRequest, post: Post) -> bool:
        """Try to answer a click in its thread, and return whether this succeeded.

        A ``response_url`` would lead to the channel instead.
        """
        try:
            self._post_ephemeral(slack_request, post)
        except (SlackCallRefused, SlackUnavailable) as error:
            # a message that may appear twice is better than one that is lost
            log.info("not told in the thread [%s]: %s", slack_request.reference, error)
            return False
        return True

    def _send_response(self, slack_request: SlackRequest, post: Post) -> None:
        """Send the message to the ``response_url``, or as an ephemeral message if that has expired."""
        if not self._try_response_url(slack_request, post):
            self._post_ephemeral(slack_request, post)

    def _try_response_url(self, slack_request: SlackRequest, post: Post) -> bool:
        """Send the message to the ``response_url``, and return whether Slack accepted it.

        Slack accepts a handful of answers within half an hour. After that it answers with an error status.

        Raises:
            SlackUnavailable: Slack has a server error or a rate limit.
        """
        with translate_slack_errors():
            answer = send_to_hook(
                slack_request.response_url,
                _TIMEOUT,
                **post.build_payload(),
                response_type="ephemeral",
                replace_original=False,
            )
        if answer.status_code >= 500 or answer.status_code == 429:
            pause = (
                parse_retry_after(str(answer.headers.get("Retry-After", "")))
                if answer.status_code == 429
                else None
            )
            raise SlackUnavailable("Slack did not accept the answer: try again in a few minutes.", pause)
        if answer.status_code != 200:
            log.info("the response_url is used up [%s]: status %s", slack_request.reference, answer.status_code)
        return bool(answer.status_code == 200)

    def _post_ephemeral(self, slack_request: SlackRequest, post: Post) -> None:
        """Post an ephemeral message."""
        with translate_slack_errors(slack_request.channel):
            self._client.chat_postEphemeral(
                channel=slack_request.channel,
                user=slack_request.user,
                thread_ts=slack_request.existing_thread or None,
                **post.build_payload(),
            )


class SlackViews:
    """``Views`` over the Web API. A modal is identified by its ``external_id``."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def open_view(self, trigger: str, key: str, view: Mapping[str, Any]) -> None:
        """Open a modal."""
        with translate_slack_errors():
            self._client.views_open(trigger_id=trigger, view={**view, "external_id": key})

    def update_view(self, key: str, view: Mapping[str, Any]) -> bool:
        """Replace the content of a modal. Return False if it was closed or never opened."""
        try:
            with translate_slack_errors():
                self._client.views_update(external_id=key, view={**view, "external_id": key})
        except SlackCallRefused as error:
            if error.code != "not_found":
                raise
            return False
        return True
