"""The form that asks for a pull request: it opens from anywhere in Slack."""

from __future__ import annotations

import logging

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused
from bot.platform.slack.messenger import SlackViews
from bot.platform.slack.replies import ReplySender
from bot.render.blocks.sentences import WINDOW_TOO_LATE
from bot.render.summaries.reference_form import render_reference_form

log = logging.getLogger(__name__)

# what Slack says if an earlier attempt of the job opened the form
_OPENED_EARLIER = "duplicate_external_id"


class ReferenceFormOpener:
    """Service that opens the form."""

    def __init__(self, views: SlackViews, replies: ReplySender) -> None:
        self._views = views
        self._replies = replies

    def open_form(self, slack_request: SlackRequest) -> None:
        """Open the form; Slack accepts a trigger for three seconds.

        Raises:
            SlackUnavailable, StoreUnavailable: a retry may help.
        """
        try:
            self._views.open_view(slack_request.trigger, slack_request.key, render_reference_form())
        except SlackCallRefused as error:
            log.info("the form [%s] is not opened: %s", slack_request.reference, error)
            if error.code != _OPENED_EARLIER:
                self._replies.tell_asker(slack_request, WINDOW_TOO_LATE)
