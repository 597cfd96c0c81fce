"""What people do with subscriptions: make, change, pause, resume and remove them."""

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
from bot.ports import DueQueue, SubscriptionStore
from bot.ports.workspace_directory import ChannelInfo, WorkspaceDirectory
from bot.render.subscriptions import sentences
from bot.services.slack.access_control import AccessControl
from bot.services.subscriptions.permissions import SubscriptionPermissions
from bot.services.subscriptions.repository import SubscriptionRepository

log = logging.getLogger(__name__)

MAX_PER_CHANNEL = 20
_DAY = timedelta(days=1)
_CLOSED_CODES = {"channel_not_found", "not_in_channel"}


@dataclass(frozen=True, slots=True)
class SubscriptionChange:
    """A subscription as it is now, and the one that was there before, if there was one."""

    current: Subscription
    previous: Subscription | None = None


class SubscriptionEditor:
    """Changes subscriptions. ``at`` and ``zone`` hold for who does not say when.

    Every method may raise UsageError for the visitor, SlackRefused, SlackUnavailable and StoreUnavailable.
    """

    def __init__(
        self,
        directory: SubscriptionRepository,
        kept: SubscriptionStore,
        agenda: DueQueue,
        places: WorkspaceDirectory,
        rights: SubscriptionPermissions,
        admission: AccessControl,
        usual: tuple[dt.time, ZoneInfo],
        now: Callable[[], datetime],
    ) -> None:
        self._directory = directory
        self._kept = kept
        self._agenda = agenda
        self._places = places
        self._rights = rights
        self._admission = admission
        self._usual = usual
        self._now = now

    def subscribe(
        self, slack_request: SlackRequest, wish: SubscriptionRequest, channel: str = "", replaces: str = ""
    ) -> SubscriptionChange:
        """Make a subscription, or change the one of the same repository and filters, which stays its maker's.

        It goes to ``channel``, if one is named, else to where the visitor is; ``replaces`` is the id of the one
        that it takes the place of.
        """
        is_personal = wish.is_personal or (slack_request.is_direct and not channel)
        target = (
            self._places.open_direct_messages(slack_request.user)
            if is_personal
            else channel or slack_request.channel
        )
        if target.startswith("D") and not is_personal:
            raise UsageError(sentences.OTHER_DIRECT_MESSAGES)
        place = self._require_channel(slack_request, target)
        old = self._find_replaced(slack_request, replaces)
        made = self._build_subscription(slack_request, wish, target, is_open=place.is_open)
        known = self._directory.get(made.id)
        if known and known.is_fixed:
            raise UsageError(sentences.IS_FIXED)
        before = old or known
        if not is_personal:
            self._rights.require_member(slack_request.user, target, before, is_open=place.is_open)
            made = replace(made, by=before.by) if before else made
        is_more = known is None and (old is None or old.channel != target)
        if is_more and len(self._directory.list_for_channel(target)) >= MAX_PER_CHANNEL:
            raise UsageError(sentences.format_too_many(MAX_PER_CHANNEL))
        self._save_subscription(made, before)
        if old and old.id != made.id:
            self._remove_subscription(old)
        return SubscriptionChange(made, before)

    def unsubscribe(self, slack_request: SlackRequest, which: SubscriptionSelector) -> Sequence[Subscription]:
        """Remove them; what was posted stays."""
        return [
            self._remove_subscription(each) for each in self._select_changeable(slack_request, which, stops=True)
        ]

    def pause(self, slack_request: SlackRequest, which: SubscriptionSelector) -> Sequence[SubscriptionChange]:
        """Post nothing until they are resumed."""
        return [
            self._set_paused(each, is_paused=True)
            for each in self._select_changeable(slack_request, which, stops=True)
        ]

    def resume(self, slack_request: SlackRequest, which: SubscriptionSelector) -> Sequence[SubscriptionChange]:
        """Go on with the next digest that is due; those of the meantime are not posted."""
        return [
            self._set_paused(each, is_paused=False)
            for each in self._select_changeable(slack_request, which, stops=False)
        ]

    def list_here(self, slack_request: SlackRequest) -> Sequence[Subscription]:
        """Those of the visitor's channel that they may know of."""
        return self._rights.filter_visible(
            slack_request.user, self._directory.list_for_channel(slack_request.channel)
        )

    def is_welcome(self, slack_request: SlackRequest) -> bool:
        """Whether somebody who opens App Home may see it: the event does not say of which workspace they are."""
        return not self._admission.explain_exclusion(
            replace(slack_request, team=self._places.fetch_team(slack_request.user))
        )

    def list_visible(self, user: str) -> Sequence[Subscription]:
        """Those that a user may know of: of public channels, of those that they are in, and their own."""
        return self._rights.filter_visible(user, self._directory.list_all())

    def get_changeable(self, slack_request: SlackRequest, name: str) -> Subscription:
        """The one of an id, if the visitor may change it."""
        found = self._directory.get(name)
        if found is None:
            raise UsageError(sentences.IS_GONE)
        if refusal := self._rights.find_refusal(slack_request.user, found):
            raise UsageError(refusal)
        return found

    def update_time_zone(self, subscription: Subscription) -> None:
        """Take over the zone of the user whose zone it follows, who may have travelled."""
        zone = self._places.fetch_time_zone(subscription.follows)
        if zone != subscription.timing.zone:
            moved = replace(subscription, timing=replace(subscription.timing, zone=zone))
            self._save_subscription(moved, subscription)

    def refresh_time_zone(self, name: str) -> None:
        """Follow whom the subscription of an id follows, if it does; at the next digest, if Slack does not say."""
        found = self._directory.get(name)
        if found is None or not found.follows or found.is_paused:
            return
        try:
            self.update_time_zone(found)
        except (SlackCallRefused, SlackUnavailable) as error:
            log.info("the zone of %s stays %s: %s", found.follows, found.timing.zone, error)

    def get_next_due(self, subscription: Subscription) -> datetime:
        """When its next digest is due, in UTC; one that is due and not posted yet counts."""
        return self._agenda.get_time(NextDigest(subscription.id)) or subscription.timing.find_next_after(
            self._now()
        )

    def _build_subscription(
        self, slack_request: SlackRequest, wish: SubscriptionRequest, target: str, *, is_open: bool
    ) -> Subscription:
        named = Subscription(target, wish.repository, Timing(*self._usual), wish.view)
        known = self._directory.get(named.id)
        timing = known.timing if known else named.timing
        # a personal digest is in the person's own zone unless they say otherwise
        is_mine = wish.is_mine or (wish.zone is None and known is None and named.is_personal)
        follows = slack_request.user if is_mine else known.follows if known and wish.zone is None else ""
        zone = self._places.fetch_time_zone(slack_request.user) if is_mine else wish.zone or timing.zone
        weekdays = timing.weekdays if wish.weekdays is None else wish.weekdays
        return replace(
            named,
            timing=Timing(wish.at or timing.at, zone, weekdays),
            by=slack_request.user,
            follows=follows,
            is_open=is_open,
        )

    def _require_channel(self, slack_request: SlackRequest, channel: str) -> ChannelInfo:
        if bar := self._admission.explain_exclusion(replace(slack_request, channel=channel)):
            raise UsageError(bar)
        try:
            place = self._places.fetch_channel(channel)
        except SlackCallRefused as error:
            if error.code in _CLOSED_CODES:
                raise UsageError(sentences.BOT_NOT_MEMBER) from error
            raise
        if place.is_archived:
            raise UsageError(sentences.CHANNEL_ARCHIVED)
        if not place.is_member:
            raise UsageError(sentences.BOT_NOT_MEMBER)
        return place

    def _find_replaced(self, slack_request: SlackRequest, name: str) -> Subscription | None:
        if not name:
            return None
        found = self.get_changeable(slack_request, name)
        if found.is_fixed:
            raise UsageError(sentences.IS_FIXED)
        return found

    def select_subscriptions(
        self, slack_request: SlackRequest, which: SubscriptionSelector
    ) -> Sequence[Subscription]:
        """Which of the channel's somebody means, or one of another channel that they may know of."""
        one = self._directory.get(which.id) if which.id else None
        if one is None or not self._rights.can_see(slack_request.user, one):
            return which.select_from(tuple(self.list_here(slack_request)))
        if bar := self._admission.explain_exclusion(replace(slack_request, channel=one.channel)):
            raise UsageError(bar)
        return (one,)

    def preview_subscription(self, slack_request: SlackRequest, wish: SubscriptionRequest) -> Subscription:
        """What a wish would make, without making it."""
        return self._build_subscription(slack_request, wish, slack_request.channel, is_open=False)

    def _select_changeable(
        self, slack_request: SlackRequest, which: SubscriptionSelector, *, stops: bool
    ) -> Sequence[Subscription]:
        """Those of the ones meant that the visitor may change, at least one."""
        found = self.select_subscriptions(slack_request, which)
        refusals = {
            each: sentences.IS_FIXED
            if each.is_fixed
            else self._rights.find_refusal(slack_request.user, each, stops=stops)
            for each in found
        }
        changeable = [each for each, refusal in refusals.items() if not refusal]
        if not changeable:
            raise UsageError(next(reversed(refusals.values())))
        return changeable

    def _save_subscription(self, made: Subscription, before: Subscription | None) -> None:
        """Keep it and plan its next digest: the first that tells of what the one planned before would have."""
        planned = self._agenda.get_time(NextDigest(before.id)) if before else None
        self._kept.put(made)
        if before and planned:
            due = made.timing.find_first_from(before.timing.get_covered_days(planned).first + _DAY)
        else:
            due = made.timing.find_next_after(self._now())
        self._agenda.put(NextDigest(made.id), due)

    def _remove_subscription(self, subscription: Subscription) -> Subscription:
        self._kept.remove(subscription.id)
        self._agenda.drop(NextDigest(subscription.id))
        return subscription

    def _set_paused(self, subscription: Subscription, *, is_paused: bool) -> SubscriptionChange:
        turned = replace(subscription, is_paused=is_paused)
        if turned != subscription:
            self._kept.put(turned)
        if is_paused:
            self._agenda.drop(NextDigest(turned.id))
        else:
            self._agenda.add(NextDigest(turned.id), turned.timing.find_next_after(self._now()))
        return SubscriptionChange(turned, subscription)
