"""Who may see and change which subscriptions, and see which profiles, by membership in channels.

What Slack does not say is refused.

Guests, and people of other workspaces, see and change only what concerns the channels that they are in.
Refusals are sentences for the user. All may raise SlackUnavailable.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from bot.app import App
from bot.errors import SlackCallRefused, UsageError
from bot.features.subscriptions.rules import Subscription
from bot.features.subscriptions.tables import list_subscriptions
from bot.platform.slack.directory import ChannelInfo, UserInfo
from bot.platform.slack.requests import SlackRequest

log = logging.getLogger(__name__)

T = TypeVar("T")

IS_GONE = "That subscription no longer exists."
_MEMBERS_UNKNOWN = "I can't see who is in that channel: invite me with /invite, or ask the bot's admin."


def find_refusal(app: App, user: str, subscription: Subscription, *, stops: bool = False) -> str:
    """Return why a user may not change a subscription; empty if they may. Admins may also stop one (``stops``)."""
    if subscription.is_personal:
        is_own = subscription.by == user
        return "" if is_own else "That is a personal subscription: only its owner can change it."
    is_member = _is_member(app, user, subscription.channel)
    person = None if is_member else _fetch_user(app, user)
    if is_member or (stops and person and person.is_admin and not _is_outsider(app, person)):
        return ""
    if is_member is None:
        return _MEMBERS_UNKNOWN
    if _is_outsider(app, person) or not _is_open(app, subscription.channel):
        return IS_GONE
    if subscription.by == user:
        return ""
    return "Only members of that channel, or the person who subscribed it, can do that: join it first."


def require_member(app: App, user: str, channel: str, existing: Subscription | None, *, is_open: bool) -> None:
    """Refuse a subscription by a user outside its channel, unless ``existing`` is theirs. Raises UsageError."""
    is_member = _is_member(app, user, channel)
    if is_member is None:
        raise UsageError(_MEMBERS_UNKNOWN)
    is_own = is_open and existing is not None and existing.channel == channel and existing.by == user
    if not is_member and (not is_own or _is_outsider(app, _fetch_user(app, user))):
        raise UsageError("Only members of that channel can subscribe it: join it first.")


def require_presence(app: App, asker: SlackRequest) -> None:
    """Refuse a request from a channel that a user is not in, unless it is open to them. Raises UsageError."""
    # Slack says nothing about a channel that is closed to the bot; nothing can be posted there either
    is_member = _is_member(app, asker.user, asker.channel)
    if is_member or (is_member is None and asker.is_direct):
        return
    is_outsider = _is_outsider(app, _fetch_user(app, asker.user))
    if is_outsider or (is_member is False and not _is_open(app, asker.channel)):
        raise UsageError("You are not in this channel: use one that you are in.")


def filter_visible(app: App, user: str, subscriptions: Iterable[Subscription]) -> Sequence[Subscription]:
    """Return those that a user may see: their own, those of public channels and of channels they are in."""
    everything = tuple(subscriptions)
    others = [each for each in everything if not each.is_personal]
    is_outsider = bool(others) and _is_outsider(app, _fetch_user(app, user))
    channels = frozenset[str]()
    if is_outsider or not all(map(_is_public, others)):
        channels = _ask_slack(lambda: app.directory.list_channels(user), f"where {user} is") or channels
    return tuple(
        each
        for each in everything
        if (
            each.by == user
            if each.is_personal
            else each.channel in channels or (_is_public(each) and not is_outsider)
        )
    )


def can_see(app: App, user: str, subscription: Subscription) -> bool:
    """Return whether a user may see a subscription. Admins see all but personal ones, since they may stop them."""
    if subscription.is_personal:
        return subscription.by == user
    if _is_member(app, user, subscription.channel):
        return True
    person = _fetch_user(app, user)
    return not _is_outsider(app, person) and bool(
        (person and person.is_admin) or _is_public(subscription) or _is_open(app, subscription.channel)
    )


def can_see_profile(app: App, user: str, name: str) -> bool:
    """Return whether a user may see a profile: it belongs to its owners, and to the channels whose digests use it.

    One without owners is also for everybody who is neither a guest nor of another workspace.
    """
    entry = app.profiles.get_entry(name)
    if entry is None:
        return False
    is_outsider = _is_outsider(app, _fetch_user(app, user))
    if user in entry.owners or not (entry.owners or is_outsider):
        return True
    channels = [owner for owner in entry.owners if not owner.startswith(("U", "W"))]
    used = [each for each in list_subscriptions(app) if each.view.profile == name and not each.is_personal]
    return (
        bool(filter_visible(app, user, used))
        or any(_is_member(app, user, channel) for channel in channels)
        or (not is_outsider and any(_is_open(app, channel) for channel in channels))
    )


def require_previews(app: App, channel: ChannelInfo) -> None:
    """Refuse previews where people of other workspaces would see them. Raises UsageError."""
    if channel.is_external and not app.settings.prdigest_previews_in_shared_channels:
        raise UsageError(
            "Links get no previews in a channel that is shared with another workspace: ask the bot's admin to "
            "allow them."
        )


def _is_public(subscription: Subscription) -> bool:
    """Return whether the channel was public at that time. The subscription of the settings is no secret."""
    return subscription.is_open or subscription.is_fixed


def _is_outsider(app: App, person: UserInfo | None) -> bool:
    """Return whether a user is a guest or of another workspace; an unknown user counts as one."""
    return person is None or person.is_guest or person.team != app.messenger.fetch_team()


def _is_member(app: App, user: str, channel: str) -> bool | None:
    return _ask_slack(lambda: app.directory.is_channel_member(channel, user), f"who is in {channel}")


def _fetch_user(app: App, user: str) -> UserInfo | None:
    return _ask_slack(lambda: app.directory.fetch_user(user), f"who {user} is")


def _is_open(app: App, channel: str) -> bool:
    return bool(_ask_slack(lambda: app.directory.fetch_channel(channel).is_open, f"what {channel} is"))


def _ask_slack(ask: Callable[[], T], what: str) -> T | None:
    try:
        return ask()
    except SlackCallRefused as error:
        log.info("%s is not known: %s", what, error)
        return None
