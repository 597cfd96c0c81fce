"""Who may see and change which subscriptions. Slack says who is in a channel; what it does not say is refused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused, UsageError
from bot.domain.subscriptions.models import Subscription
from bot.ports.workspace_directory import UserInfo, WorkspaceDirectory
from bot.render.subscriptions import sentences

log = logging.getLogger(__name__)


class SubscriptionPermissions:
    """Asks Slack. ``own_team`` gives the workspace of the bot.

    Guests, and people of other workspaces, see and do what concerns the channels that they are in, and nothing
    else. Every method may raise SlackUnavailable.
    """

    def __init__(self, places: WorkspaceDirectory, own_team: Callable[[], str]) -> None:
        self._places = places
        self._own_team = own_team

    def find_refusal(self, user: str, subscription: Subscription, *, stops: bool = False) -> str:
        """Why somebody may not change a subscription, as a sentence for them; empty if they may.

        Those who run the workspace may also stop one (``stops``), whatever channel it is for.
        """
        if subscription.is_personal:
            return "" if subscription.by == user else sentences.IS_PERSONAL
        is_member = self._is_member(user, subscription.channel)
        person = None if is_member else self._fetch_user(user)
        if is_member or (stops and person and person.is_admin and not self._is_outsider(person)):
            return ""
        if is_member is None:
            return sentences.MEMBERS_UNKNOWN
        if person is None or self._is_outsider(person) or not self._is_open(subscription.channel):
            return sentences.IS_GONE
        return "" if subscription.by == user else sentences.MEMBERS_ONLY

    def require_member(self, user: str, channel: str, kept: Subscription | None, *, is_open: bool) -> None:
        """Refuse somebody who subscribes a channel without being in it, unless ``kept`` there is theirs already.

        Raises:
            UsageError: says so.
        """
        is_member = self._is_member(user, channel)
        if is_member:
            return
        if is_member is None:
            raise UsageError(sentences.MEMBERS_UNKNOWN)
        is_makers = is_open and kept is not None and kept.channel == channel and kept.by == user
        if not is_makers or self._is_outsider(self._fetch_user(user)):
            raise UsageError(sentences.JOIN_FIRST)

    def require_presence(self, slack_request: SlackRequest) -> None:
        """Refuse who asks for something in a channel that they are not in, unless it is open to them.

        Of one that is closed to the bot Slack says nothing; nothing can be posted there either.

        Raises:
            UsageError: says so.
        """
        is_member = self._is_member(slack_request.user, slack_request.channel)
        if is_member or (is_member is None and slack_request.is_direct):
            return
        is_outsider = self._is_outsider(self._fetch_user(slack_request.user))
        if is_outsider or (is_member is False and not self._is_open(slack_request.channel)):
            raise UsageError(sentences.NOT_IN_CHANNEL)

    def filter_visible(self, user: str, subscriptions: Iterable[Subscription]) -> Sequence[Subscription]:
        """Those that somebody may know of: their own, those of public channels and of channels they are in."""
        everything = tuple(subscriptions)
        others = [each for each in everything if not each.is_personal]
        if not others:
            return tuple(each for each in everything if each.by == user)
        is_outsider = self._is_outsider(self._fetch_user(user))
        is_known = all(map(_is_public, others)) and not is_outsider
        channels = frozenset() if is_known else self._list_channels(user)

        def is_seen(each: Subscription) -> bool:
            if each.is_personal:
                return each.by == user
            return each.channel in channels or (_is_public(each) and not is_outsider)

        return tuple(filter(is_seen, everything))

    def can_see(self, user: str, subscription: Subscription) -> bool:
        """Whether somebody may know of one: as above, and those who run the workspace, who may stop it."""
        if subscription.is_personal:
            return subscription.by == user
        if self._is_member(user, subscription.channel):
            return True
        person = self._fetch_user(user)
        return not self._is_outsider(person) and bool(
            person and (person.is_admin or _is_public(subscription) or self._is_open(subscription.channel))
        )

    def _is_outsider(self, person: UserInfo | None) -> bool:
        """Whether they are only where somebody brought them, which is all that is sure of who is not known."""
        return person is None or person.is_guest or person.team != self._own_team()

    def _is_member(self, user: str, channel: str) -> bool | None:
        """Whether somebody is in a channel, None where Slack does not say."""
        try:
            return self._places.is_channel_member(channel, user)
        except SlackCallRefused as error:
            log.info("who is in %s is not known: %s", channel, error)
            return None

    def _fetch_user(self, user: str) -> UserInfo | None:
        try:
            return self._places.fetch_user(user)
        except SlackCallRefused as error:
            log.info("who %s is is not known: %s", user, error)
            return None

    def _list_channels(self, user: str) -> frozenset[str]:
        try:
            return self._places.list_channels(user)
        except SlackCallRefused as error:
            log.info("where %s is is not known: %s", user, error)
            return frozenset()

    def _is_open(self, channel: str) -> bool:
        try:
            return self._places.fetch_channel(channel).is_open
        except SlackCallRefused as error:
            log.info("what %s is is not known: %s", channel, error)
            return False


def _is_public(subscription: Subscription) -> bool:
    """As it was when it was made; the one of the settings is no secret."""
    return subscription.is_open or subscription.is_fixed
