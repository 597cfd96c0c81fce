from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from bot.errors import PrdigestError, SlackCallRefused, StoreUnavailable
from bot.platform import deadlines
from bot.platform.slack.blocks import WINDOW_TOO_LATE
from bot.platform.slack.messenger import SlackViews
from bot.platform.slack.replies import ReplySender, log_refusal
from bot.platform.slack.requests import SlackRequest

log = logging.getLogger(__name__)

View = dict[str, Any]


class ModalPresenter:
    """Service that opens modals and fills them. Both methods may raise SlackUnavailable and StoreUnavailable."""

    def __init__(self, views: SlackViews, replies: ReplySender) -> None:
        self._views = views
        self._replies = replies

    def open_modal(self, slack_request: SlackRequest, trigger: str, first: View) -> bool:
        """Open a modal, or show ``first`` in the one that an earlier attempt opened; return whether it is open."""
        # Slack accepts a trigger for three seconds. The asker reads it if that was too late.
        try:
            self._views.open_view(trigger, slack_request.key, first)
        except SlackCallRefused as error:
            # an earlier attempt of this job may have opened it
            log.info("the window [%s] is not opened: %s", slack_request.reference, error)
            if not self._views.update_view(slack_request.key, first):
                self._replies.tell_asker(slack_request, WINDOW_TOO_LATE)
                return False
        return True

    def fill_modal(
        self, slack_request: SlackRequest, build: Callable[[], View], explain: Callable[[Exception], View]
    ) -> None:
        try:
            with deadlines.reserve_time(self._replies.response_times.reply_reserve):
                view = build()
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log_refusal(slack_request, error)
            view = explain(error)
        except Exception as error:
            log.exception("a defect [%s]", slack_request.reference)
            view = explain(error)
        if not self._views.update_view(slack_request.key, view):
            log.info("the window [%s] was closed before it was filled", slack_request.reference)
