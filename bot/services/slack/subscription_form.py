"""The form of a subscription."""

from __future__ import annotations

import datetime as dt
import logging
from zoneinfo import ZoneInfo

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused, UsageError
from bot.ports import Views
from bot.render.subscriptions import sentences
from bot.render.subscriptions.form import render_form
from bot.services.slack.replies import ReplySender
from bot.services.subscriptions.editor import SubscriptionEditor

log = logging.getLogger(__name__)


class FormOpener:
    """Service that opens forms. ``usual`` is the time and the time zone that a new form begins with."""

    def __init__(
        self,
        subscribing: SubscriptionEditor,
        repositories: AllowedRepositories,
        views: Views,
        replies: ReplySender,
        usual: tuple[dt.time, ZoneInfo],
    ) -> None:
        self._subscribing = subscribing
        self._repositories = repositories
        self._views = views
        self._replies = replies
        self._usual = usual

    def open_form(self, slack_request: SlackRequest, name: str) -> None:
        """Open the form for a new subscription, or for the existing one with the id ``name``.

        Slack accepts a trigger for three seconds.

        Raises:
            SlackUnavailable, StoreUnavailable: a retry may help.
        """
        repositories = self._repositories
        try:
            old = self._subscribing.get_changeable(slack_request, name) if name else None
            view = render_form((repositories.default, *repositories.others), self._usual, old, slack_request)
            self._views.open_view(slack_request.trigger, slack_request.key, view)
        except UsageError as error:
            self._replies.tell_asker(slack_request, str(error))
        except SlackCallRefused as error:
            log.info("the form [%s] is not opened: %s", slack_request.reference, error)
            # an earlier attempt of this job may have opened it
            if error.code != "duplicate_external_id":
                self._replies.tell_asker(slack_request, sentences.FORM_TOO_LATE)
