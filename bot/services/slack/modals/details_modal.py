"""The modal behind the "Details" button, with everything about one pull request."""

from __future__ import annotations

from datetime import UTC, tzinfo

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.pull_requests.reference import Reference
from bot.platform.slack.messenger import SlackViews
from bot.platform.slack.modals import ModalPresenter
from bot.platform.slack.replies import ReplySender
from bot.render.summaries.details import render_details_view, render_error_view, render_loading_view
from bot.services.summaries.entry_cache import EntryCache


class DetailsModal:
    """Service that opens the modal. ``zone`` is the one in which it shows times."""

    def __init__(
        self, entry_cache: EntryCache, views: SlackViews, replies: ReplySender, zone: tzinfo = UTC
    ) -> None:
        self._entry_cache = entry_cache
        self._modals = ModalPresenter(views, replies)
        self._zone = zone

    def open_modal(self, slack_request: SlackRequest, trigger: str, reference: Reference) -> None:
        """Open the modal at once, and fill it as soon as the pull request is read.

        Slack accepts a trigger for three seconds. A repeated call fills the same modal.

        Raises:
            SlackUnavailable, StoreUnavailable: a retry may help.
        """
        cached = self._entry_cache.get_cached(reference)
        first = render_details_view(cached, self._zone) if cached else render_loading_view(reference)
        if self._modals.open_modal(slack_request, trigger, first) and not cached:
            self._modals.fill_modal(
                slack_request,
                lambda: render_details_view(self._entry_cache.get_entry(reference), self._zone),
                lambda error: render_error_view(error, slack_request.reference, reference.number),
            )
