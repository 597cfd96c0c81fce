"""App Home, as one user sees it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused
from bot.domain.operations.bot_health import LatestDigest
from bot.domain.pull_requests.models import GITHUB_WEB
from bot.domain.subscriptions.models import Subscription
from bot.platform.slack.messenger import SlackViews
from bot.render.subscriptions.home import render_home
from bot.services.operations.health import HealthReader
from bot.services.subscriptions.editor import SubscriptionEditor

if TYPE_CHECKING:
    # a feature, which stands above
    from bot.features.digest.tables import DigestRecords

log = logging.getLogger(__name__)


class AppHome:
    """Service that publishes App Home. ``web`` is the address of GitHub's pages."""

    def __init__(
        self,
        editor: SubscriptionEditor,
        digests: DigestRecords,
        health_reader: HealthReader,
        publisher: SlackViews,
        now: Callable[[], datetime],
        web: str = GITHUB_WEB,
    ) -> None:
        self._editor = editor
        self._digests = digests
        self._health_reader = health_reader
        self._publisher = publisher
        self._now = now
        self._web = web

    def open_home(self, slack_request: SlackRequest) -> None:
        """Publish App Home for a user who opens it, if they may ask. Raises what ``show_home`` raises."""
        if self._editor.is_welcome(slack_request):
            self.show_home(slack_request.user)

    def show_home(self, user: str, note: str = "") -> None:
        """Publish the current App Home of a user; ``note`` is the result of the user's last click.

        An app whose Home is switched off shows none, now or later.

        Raises:
            SlackUnavailable, StoreUnavailable: it stays as it was.
        """
        # the user's own first: the last ones are left out if there are very many
        visible = sorted(self._editor.list_visible(user), key=lambda each: each.by != user)
        now = self._now()
        planned = [(each, self._editor.get_next_due(each)) for each in visible]
        latest = sorted(self._list_latest(visible, now), key=lambda each: each.due_at, reverse=True)
        try:
            self._publisher.publish_home(
                user, render_home(latest, planned, self._health_reader.read_health(), now, note)
            )
        except SlackCallRefused as error:
            log.warning("App Home is not shown: %s", error)

    def _list_latest(self, subscriptions: Sequence[Subscription], now: datetime) -> Iterator[LatestDigest]:
        """Yield the last posted digest of each subscription, each text once: many channels may get the same."""
        seen: set[str] = set()
        for subscription in subscriptions:
            latest = self._find_last_digest(subscription, now)
            if latest and latest.text not in seen:
                seen.add(latest.text)
                yield latest

    def _find_last_digest(self, subscription: Subscription, now: datetime) -> LatestDigest | None:
        """Return the last digest, or the one before while that is not posted yet."""
        due = now
        for _ in range(2):
            due = subscription.timing.find_last_before(due)
            record = self._digests.find_digest(subscription.build_digest_spec(due)).record
            if record.is_posted and record.text:
                return LatestDigest(record.text, record.permalink, due, f"{self._web}/{subscription.repository}")
        return None
