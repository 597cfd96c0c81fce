"""Changes of subscriptions by users: create, change, pause, resume and remove."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused, SlackUnavailable, UsageError
from bot.domain.subscriptions.due_items import NextDigest
from bot.domain.subscriptions.models import Subscription, Timing
from bot.domain.subscriptions.request import SubscriptionRequest, SubscriptionSelector
from bot.platform.slack.access import AccessControl
from bot.platform.slack.directory import ChannelInfo, SlackWorkspaceDirectory
from bot.ports import DueQueue, SubscriptionStore
from bot.render.subscriptions import sentences
from bot.services.subscriptions.permissions import SubscriptionPermissions
from bot.services.subscriptions.repository import SubscriptionRepository

log = logging.getLogger(__name__)

MAX_PER_CHANNEL = 20
_DAY = timedelta(days=1)
_CLOSED_CODES = {"channel_not_found", "not_in_channel"}


@dataclass(frozen=True, slots=True)
class SubscriptionChange:
    """A subscription after a change, and the previous one if there was one."""

    current: Subscription
    previous: Subscription | None = None


class SubscriptionEditor:
    """Service that changes subscriptions. ``default_timing`` is the time and zone of a request without them.

    Every method may raise UsageError for the user, SlackCallRefused, SlackUnavailable and StoreUnavailable.
    """

    def __init__(
        self,
        repository: SubscriptionRepository,
        store: SubscriptionStore,
        due_queue: DueQueue,
        workspace: SlackWorkspaceDirectory,
        permissions: SubscriptionPermissions,
        access_control: AccessControl,
        default_timing: tuple[dt.time, ZoneInfo],
        now: Callable[[], datetime],
    ) -> None:
        self._repository = repository
        self._store = store
        self._due_queue = due_queue
        self._workspace = workspace
        self._permissions = permissions
        self._access_control = access_control
        self._default_timing = default_timing
        self._now = now

    def subscribe(
        self, slack_request: SlackRequest, request: SubscriptionRequest, channel: str = "", replaces: str = ""
    ) -> SubscriptionChange:
        """Create a subscription, or change the one with the same repository and filters, which keeps its creator.

        It is for ``channel`` if there is one, else for the channel of the request. ``replaces`` is the id of the
        subscription that it replaces.
        """
        is_personal = request.is_personal or (slack_request.is_direct and not channel)
        target = (
            self._workspace.open_direct_messages(slack_request.user)
            if is_personal
            else channel or slack_request.channel
        )
        if target.startswith("D") and not is_personal:
            raise UsageError(sentences.OTHER_DIRECT_MESSAGES)
        channel_info = self._require_channel(slack_request, target)
        replaced = self._find_replaced(slack_request, replaces)
        subscription = self._build_subscription(slack_request, request, target, is_open=channel_info.is_open)
        existing = self._repository.get(subscription.id)
        if existing and existing.is_fixed:
            raise UsageError(sentences.format_fixed_already(existing))
        previous = replaced or existing
        if not is_personal:
            self._permissions.require_member(slack_request.user, target, previous, is_open=channel_info.is_open)
            subscription = replace(subscription, by=previous.by) if previous else subscription
        is_additional = existing is None and (replaced is None or replaced.channel != target)
        if is_additional and len(self._repository.list_for_channel(target)) >= MAX_PER_CHANNEL:
            raise UsageError(sentences.format_too_many(MAX_PER_CHANNEL))
        self._save_subscription(subscription, previous)
        if replaced and replaced.id != subscription.id:
            self._remove_subscription(replaced)
        return SubscriptionChange(subscription, previous)

    def unsubscribe(self, slack_request: SlackRequest, selector: SubscriptionSelector) -> Sequence[Subscription]:
        """Remove the selected subscriptions. Posted digests remain."""
        return [
            self._remove_subscription(each)
            for each in self._select_changeable(slack_request, selector, stops=True)
        ]

    def pause(self, slack_request: SlackRequest, selector: SubscriptionSelector) -> Sequence[SubscriptionChange]:
        """Pause the selected subscriptions: nothing is posted until they are resumed."""
        return [
            self._set_paused(each, is_paused=True)
            for each in self._select_changeable(slack_request, selector, stops=True)
        ]

    def resume(self, slack_request: SlackRequest, selector: SubscriptionSelector) -> Sequence[SubscriptionChange]:
        """Resume the selected subscriptions with the next digest that is due. Missed ones are not posted."""
        return [
            self._set_paused(each, is_paused=False)
            for each in self._select_changeable(slack_request, selector, stops=False)
        ]

    def list_here(self, slack_request: SlackRequest) -> Sequence[Subscription]:
        """Return the subscriptions of the request's channel that the user may see."""
        return self._permissions.filter_visible(
            slack_request.user, self._repository.list_for_channel(slack_request.channel)
        )

    def is_welcome(self, slack_request: SlackRequest) -> bool:
        """Return whether a user may see App Home. The event does not say to which workspace they belong."""
        return not self._access_control.explain_exclusion(
            replace(slack_request, team=self._workspace.fetch_team(slack_request.user))
        )

    def list_visible(self, user: str) -> Sequence[Subscription]:
        """Return the subscriptions that a user may see: of public channels, of their channels, and their own."""
        return self._permissions.filter_visible(user, self._repository.list_all())

    def get_changeable(self, slack_request: SlackRequest, name: str) -> Subscription:
        """Return the subscription with an id. Raises UsageError if the user may not change it."""
        subscription = self._repository.get(name)
        if subscription is None:
            raise UsageError(sentences.IS_GONE)
        if refusal := self._permissions.find_refusal(slack_request.user, subscription):
            raise UsageError(refusal)
        return subscription

    def update_time_zone(self, subscription: Subscription) -> None:
        """Take over the current zone of the user whose zone the subscription follows: they may have travelled."""
        zone = self._workspace.fetch_time_zone(subscription.follows)
        if zone != subscription.timing.zone:
            updated = replace(subscription, timing=replace(subscription.timing, zone=zone))
            self._save_subscription(updated, subscription)

    def refresh_time_zone(self, name: str) -> None:
        """Update the zone of the subscription with an id, if it follows a user's zone.

        If Slack does not answer, the zone stays until the next digest.
        """
        subscription = self._repository.get(name)
        if subscription is None or not subscription.follows or subscription.is_paused:
            return
        try:
            self.update_time_zone(subscription)
        except (SlackCallRefused, SlackUnavailable) as error:
            log.info("the zone of %s stays %s: %s", subscription.follows, subscription.timing.zone, error)

    def get_next_due(self, subscription: Subscription) -> datetime:
        """Return when the next digest is due, in UTC. One that is due and not posted yet counts."""
        return self._due_queue.get_time(NextDigest(subscription.id)) or subscription.timing.find_next_after(
            self._now()
        )

    def _build_subscription(
        self, slack_request: SlackRequest, request: SubscriptionRequest, target: str, *, is_open: bool
    ) -> Subscription:
        default = Subscription(target, request.repository, Timing(*self._default_timing), request.view)
        existing = self._repository.get(default.id)
        timing = existing.timing if existing else default.timing
        # a personal digest is in the user's own zone unless they name another one
        is_mine = request.is_mine or (request.zone is None and existing is None and default.is_personal)
        follows = slack_request.user if is_mine else existing.follows if existing and request.zone is None else ""
        zone = self._workspace.fetch_time_zone(slack_request.user) if is_mine else request.zone or timing.zone
        weekdays = timing.weekdays if request.weekdays is None else request.weekdays
        return replace(
            default,
            timing=Timing(request.at or timing.at, zone, weekdays),
            by=slack_request.user,
            follows=follows,
            is_open=is_open,
        )

    def _require_channel(self, slack_request: SlackRequest, channel: str) -> ChannelInfo:
        if refusal := self._access_control.explain_exclusion(replace(slack_request, channel=channel)):
            raise UsageError(refusal)
        try:
            channel_info = self._workspace.fetch_channel(channel)
        except SlackCallRefused as error:
            if error.code in _CLOSED_CODES:
                raise UsageError(sentences.BOT_NOT_MEMBER) from error
            raise
        if channel_info.is_archived:
            raise UsageError(sentences.CHANNEL_ARCHIVED)
        if not channel_info.is_member:
            raise UsageError(sentences.BOT_NOT_MEMBER)
        return channel_info

    def _find_replaced(self, slack_request: SlackRequest, name: str) -> Subscription | None:
        if not name:
            return None
        subscription = self.get_changeable(slack_request, name)
        if subscription.is_fixed:
            raise UsageError(sentences.IS_FIXED)
        return subscription

    def select_subscriptions(
        self, slack_request: SlackRequest, selector: SubscriptionSelector
    ) -> Sequence[Subscription]:
        """Return the selected subscriptions of the channel, or one of another channel that the user may see.

        Raises AmbiguousSelection if several match.
        """
        return selector.require_clear(self._list_matching(slack_request, selector))

    def _list_matching(
        self, slack_request: SlackRequest, selector: SubscriptionSelector
    ) -> tuple[Subscription, ...]:
        subscription = self._repository.get(selector.id) if selector.id else None
        if subscription is None or not self._permissions.can_see(slack_request.user, subscription):
            return selector.list_matching(tuple(self.list_here(slack_request)))
        if refusal := self._access_control.explain_exclusion(replace(slack_request, channel=subscription.channel)):
            raise UsageError(refusal)
        return (subscription,)

    def preview_subscription(self, slack_request: SlackRequest, request: SubscriptionRequest) -> Subscription:
        """Return the subscription that a request would create, without creating it."""
        return self._build_subscription(slack_request, request, slack_request.channel, is_open=False)

    def _select_changeable(
        self, slack_request: SlackRequest, selector: SubscriptionSelector, *, stops: bool
    ) -> Sequence[Subscription]:
        """Return the selected subscriptions that the user may change, at least one.

        Raises AmbiguousSelection for several, unless all were asked for.
        """
        selected = self._list_matching(slack_request, selector)
        refusals = {
            each: sentences.IS_FIXED
            if each.is_fixed
            else self._permissions.find_refusal(slack_request.user, each, stops=stops)
            for each in selected
        }
        changeable = tuple(each for each, refusal in refusals.items() if not refusal)
        if not changeable:
            raise UsageError(next(reversed(refusals.values())))
        return selector.require_clear(changeable)

    def _save_subscription(self, subscription: Subscription, previous: Subscription | None) -> None:
        """Save a subscription and plan its next digest.

        The first one covers the days that the digest planned before would have covered.
        """
        planned = self._due_queue.get_time(NextDigest(previous.id)) if previous else None
        self._store.put(subscription)
        if previous and planned:
            due = subscription.timing.find_first_from(previous.timing.get_covered_days(planned).first + _DAY)
        else:
            due = subscription.timing.find_next_after(self._now())
        self._due_queue.put(NextDigest(subscription.id), due)

    def _remove_subscription(self, subscription: Subscription) -> Subscription:
        self._store.remove(subscription.id)
        self._due_queue.drop(NextDigest(subscription.id))
        return subscription

    def _set_paused(self, subscription: Subscription, *, is_paused: bool) -> SubscriptionChange:
        updated = replace(subscription, is_paused=is_paused)
        if updated != subscription:
            self._store.put(updated)
        if is_paused:
            self._due_queue.drop(NextDigest(updated.id))
        else:
            self._due_queue.add(NextDigest(updated.id), updated.timing.find_next_after(self._now()))
        return SubscriptionChange(updated, subscription)
