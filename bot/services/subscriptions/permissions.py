"""Permissions to see and change subscriptions, by membership in channels. What Slack does not say is refused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused, UsageError
from bot.domain.subscriptions.models import Subscription
from bot.platform.slack.directory import SlackWorkspaceDirectory, UserInfo
from bot.render.subscriptions import sentences

log = logging.getLogger(__name__)


class SubscriptionPermissions:
    """Permissions of users. ``own_team`` returns the workspace of the bot.

    Guests, and people of other workspaces, see and change only what concerns the channels that they are in.
    Every method may raise SlackUnavailable.
    """

    def __init__(self, workspace: SlackWorkspaceDirectory, own_team: Callable[[], str]) -> None:
        self._workspace = workspace
        self._own_team = own_team

    def find_refusal(self, user: str, subscription: Subscription, *, stops: bool = False) -> str:
        """Return why a user may not change a subscription, as a sentence for them; empty if they may.

        Admins of the workspace may also stop one (``stops``), for any channel.
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

    def require_member(self, user: str, channel: str, existing: Subscription | None, *, is_open: bool) -> None:
        """Refuse a subscription to a channel by a user outside it, unless ``existing`` there is theirs already.

        Raises:
            UsageError: the refusal, as a sentence for the user.
        """
        is_member = self._is_member(user, channel)
        if is_member:
            return
        if is_member is None:
            raise UsageError(sentences.MEMBERS_UNKNOWN)
        is_own = is_open and existing is not None and existing.channel == channel and existing.by == user
        if not is_own or self._is_outsider(self._fetch_user(user)):
            raise UsageError(sentences.JOIN_FIRST)

    def require_presence(self, slack_request: SlackRequest) -> None:
        """Refuse a request from a user in a channel that they are not in, unless it is open to them.

        Slack says nothing about a channel that is closed to the bot; nothing can be posted there either.

        Raises:
            UsageError: the refusal, as a sentence for the user.
        """
        is_member = self._is_member(slack_request.user, slack_request.channel)
        if is_member or (is_member is None and slack_request.is_direct):
            return
        is_outsider = self._is_outsider(self._fetch_user(slack_request.user))
        if is_outsider or (is_member is False and not self._is_open(slack_request.channel)):
            raise UsageError(sentences.NOT_IN_CHANNEL)

    def filter_visible(self, user: str, subscriptions: Iterable[Subscription]) -> Sequence[Subscription]:
        """Return those that a user may see: their own, those of public channels and of channels they are in."""
        everything = tuple(subscriptions)
        others = [each for each in everything if not each.is_personal]
        if not others:
            return tuple(each for each in everything if each.by == user)
        is_outsider = self._is_outsider(self._fetch_user(user))
        are_all_public = all(map(_is_public, others)) and not is_outsider
        channels = frozenset() if are_all_public else self._list_channels(user)

        def is_seen(each: Subscription) -> bool:
            if each.is_personal:
                return each.by == user
            return each.channel in channels or (_is_public(each) and not is_outsider)

        return tuple(filter(is_seen, everything))

    def can_see(self, user: str, subscription: Subscription) -> bool:
        """Return whether a user may see a subscription.

        The rules are those of ``filter_visible``. Admins of the workspace see all others too, since they may stop
        them.
        """
        if subscription.is_personal:
            return subscription.by == user
        if self._is_member(user, subscription.channel):
            return True
        person = self._fetch_user(user)
        return not self._is_outsider(person) and bool(
            person and (person.is_admin or _is_public(subscription) or self._is_open(subscription.channel))
        )

    def _is_outsider(self, person: UserInfo | None) -> bool:
        """Return whether a user is a guest or of another workspace; an unknown user counts as one."""
        return person is None or person.is_guest or person.team != self._own_team()

    def _is_member(self, user: str, channel: str) -> bool | None:
        """Return whether a user is in a channel, None if Slack does not say."""
        try:
            return self._workspace.is_channel_member(channel, user)
        except SlackCallRefused as error:
            log.info("who is in %s is not known: %s", channel, error)
            return None

    def _fetch_user(self, user: str) -> UserInfo | None:
        try:
            return self._workspace.fetch_user(user)
        except SlackCallRefused as error:
            log.info("who %s is is not known: %s", user, error)
            return None

    def _list_channels(self, user: str) -> frozenset[str]:
        try:
            return self._workspace.list_channels(user)
        except SlackCallRefused as error:
            log.info("where %s is is not known: %s", user, error)
            return frozenset()

    def _is_open(self, channel: str) -> bool:
        try:
            return self._workspace.fetch_channel(channel).is_open
        except SlackCallRefused as error:
            log.info("what %s is is not known: %s", channel, error)
            return False


def _is_public(subscription: Subscription) -> bool:
    """Return whether the channel was public at that time. The subscription of the settings is no secret."""
    return subscription.is_open or subscription.is_fixed
