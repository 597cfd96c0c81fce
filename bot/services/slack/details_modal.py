"""The modal behind the "Details" button, with everything about one pull request."""

from __future__ import annotations

import logging
from datetime import UTC, tzinfo
from typing import Any

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import PrdigestError, SlackCallRefused, StoreUnavailable
from bot.domain.pull_requests.reference import Reference
from bot.ports import Views
from bot.render.summaries import sentences
from bot.render.summaries.details import render_details_view, render_error_view, render_loading_view
from bot.services.operations import deadlines
from bot.services.slack.replies import ReplySender, log_refusal
from bot.services.summaries.entry_cache import EntryCache

log = logging.getLogger(__name__)


class DetailsModal:
    """Service that opens the modal. ``zone`` is the one in which it shows times."""

    def __init__(self, entry_cache: EntryCache, views: Views, replies: ReplySender, zone: tzinfo = UTC) -> None:
        self._entry_cache = entry_cache
        self._views = views
        self._replies = replies
        self._zone = zone

    def open_modal(self, slack_request: SlackRequest, trigger: str, reference: Reference) -> None:
        """Open the modal at once, and fill it as soon as the pull request is read.

        Slack accepts a trigger for three seconds. A repeated call fills the same modal.

        Raises:
            SlackUnavailable, StoreUnavailable: a retry may help.
        """
        cached = self._entry_cache.get_cached(reference)
        first = render_details_view(cached, self._zone) if cached else render_loading_view(reference)
        try:
            self._views.open_view(trigger, slack_request.key, first)
        except SlackCallRefused as error:
            # an earlier attempt of this job may have opened it
            log.info("the window [%s] is not opened: %s", slack_request.reference, error)
            if not self._views.update_view(slack_request.key, first):
                self._replies.tell_asker(slack_request, sentences.WINDOW_TOO_LATE)
                return
        if not cached and not self._views.update_view(
            slack_request.key, self._build_view(slack_request, reference)
        ):
            log.info("the window [%s] was closed before it was filled", slack_request.reference)

    def _build_view(self, slack_request: SlackRequest, reference: Reference) -> dict[str, Any]:
        """Return the view with the details, or with an error. Raises StoreUnavailable."""
        try:
            with deadlines.reserve_time(self._replies.response_times.reply_reserve):
                return render_details_view(self._entry_cache.get_entry(reference), self._zone)
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log_refusal(slack_request, error)
            return render_error_view(error, slack_request.reference, reference.number)
        except Exception as error:
            log.exception("a defect [%s]", slack_request.reference)
            return render_error_view(error, slack_request.reference, reference.number)
