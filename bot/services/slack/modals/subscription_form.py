"""The form of a subscription."""

from __future__ import annotations

import datetime as dt
import logging
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused, UsageError
from bot.platform.slack.messenger import SlackViews
from bot.platform.slack.replies import ReplySender
from bot.render.blocks.sentences import WINDOW_TOO_LATE
from bot.render.subscriptions.form import render_form
from bot.services.subscriptions.editor import SubscriptionEditor

if TYPE_CHECKING:
    # it is a feature, and so is this soon
    from bot.features.profiles.service import Profiles

log = logging.getLogger(__name__)


class FormOpener:
    """Service that opens forms. ``default_timing`` is the time and the time zone with which a new form begins."""

    def __init__(
        self,
        editor: SubscriptionEditor,
        repositories: AllowedRepositories,
        views: SlackViews,
        replies: ReplySender,
        default_timing: tuple[dt.time, ZoneInfo],
        profiles: Profiles | None = None,
    ) -> None:
        self._editor = editor
        self._repositories = repositories
        self._views = views
        self._replies = replies
        self._default_timing = default_timing
        self._profiles = profiles

    def open_form(self, slack_request: SlackRequest, name: str) -> None:
        """Open the form for a new subscription, or for the existing one with the id ``name``.

        Slack accepts a trigger for three seconds.

        Raises:
            SlackUnavailable, StoreUnavailable: a retry may help.
        """
        repositories = self._repositories
        try:
            old = self._editor.get_changeable(slack_request, name) if name else None
            view = render_form(
                repositories.list_all(),
                self._default_timing,
                old,
                slack_request,
                self._profiles.list_names() if self._profiles else (),
            )
            self._views.open_view(slack_request.trigger, slack_request.key, view)
        except UsageError as error:
            self._replies.tell_asker(slack_request, str(error))
        except SlackCallRefused as error:
            log.info("the form [%s] is not opened: %s", slack_request.reference, error)
            # an earlier attempt of this job may have opened it
            if error.code != "duplicate_external_id":
                self._replies.tell_asker(slack_request, WINDOW_TOO_LATE)
