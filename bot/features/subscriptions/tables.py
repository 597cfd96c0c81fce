"""Rights on subscriptions and what is kept of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TypeVar
from zoneinfo import ZoneInfo

from pydantic_core import to_json

from bot.app import App
from bot.errors import SlackCallRefused, StoreUnavailable, UsageError
from bot.features.subscriptions.rules import Run, RunOutcome, Subscription, Timing
from bot.platform.slack.directory import ChannelInfo, UserInfo
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.keys import SUBSCRIPTIONS_KEY
from bot.platform.store.tables import Log, Map
from impact.repository import Repository

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PreviewSwitch:
    """Whether links of a conversation get previews, who decided that, and when (aware)."""

    is_on: bool
    user: str
    at: datetime


SUBSCRIPTIONS = Map(SUBSCRIPTIONS_KEY, Subscription, "subscriptions by their ids")
# a year of one digest a day, or a week of fifty channels; this takes kilobytes
RUN_LOG = Log("journal", Run, "the last runs, newest first", length=400)
# the feature for previews stands above this one, where a command for subscriptions turns them on, too
PREVIEW_SWITCHES = Map("previews", PreviewSwitch, "whether links get previews, by conversation")


def get_fixed(app: App) -> Subscription | None:
    settings = app.settings
    if settings.prdigest_repo is None or settings.prdigest_channel is None:
        return None
    timing = Timing(settings.prdigest_post_at, settings.prdigest_timezone)
    return Subscription(settings.prdigest_channel, settings.prdigest_repo, timing)


def list_subscriptions(app: App, channel: str | None = None) -> Sequence[Subscription]:
    """Return all subscriptions, or those of a channel: that of the settings first, then by repository and time."""
    # of a channel, only values that contain its id are parsed: each digest and each command asks for them, and
    # parsing takes many times as long as a look at the text
    fixed, quoted = get_fixed(app), "" if channel is None else to_json(channel).decode()
    stored = (_parse(text) for text in app.tables.read_fields(SUBSCRIPTIONS).values() if quoted in text)
    created = [each for each in stored if each and not (fixed and each.id == fixed.id)]
    created.sort(key=lambda each: (str(each.repository), each.timing.at, each.id))
    return [each for each in ([fixed] if fixed else []) + created if channel in (None, each.channel)]


def get_subscription(app: App, name: str) -> Subscription | None:
    return get_subscriptions(app, [name]).get(name)


def get_subscriptions(app: App, names: Sequence[str]) -> Mapping[str, Subscription | None]:
    """Return the subscriptions with these ids, by id; None for one that can't be read."""
    stored = {name: _parse(text) for name, text in app.tables.read_fields(SUBSCRIPTIONS, names).items()}
    fixed = get_fixed(app)
    return stored | {fixed.id: fixed} if fixed and fixed.id in names else stored


def put_subscription(app: App, subscription: Subscription) -> None:
    app.tables.put_field(SUBSCRIPTIONS, subscription.id, subscription)


@lru_cache(maxsize=1_024)
def _parse(text: str) -> Subscription | None:
    """Return a subscription, None if it is unreadable: that keeps nobody else from theirs. They seldom change."""
    try:
        subscription = SUBSCRIPTIONS.codec.load_or_none(text)
    except StoreUnavailable:
        subscription = None
    if subscription is None:
        log.error("a subscription can't be read: %s", text)
    return subscription


def get_channel_zone(app: App, channel: str) -> ZoneInfo | None:
    """Return the zone that readers of a channel expect; None if its subscriptions differ."""
    zones = {each.timing.zone for each in list_subscriptions(app, channel)} or {app.settings.prdigest_timezone}
    return zones.pop() if len(zones) == 1 else None


def get_channel_profile(app: App, channel: str, repository: Repository) -> str:
    """Return the name of the profile of a channel's subscription to a repository; empty without one."""
    subscribed = (
        each
        for each in list_subscriptions(app, channel)
        if str(each.repository).lower() == str(repository).lower()
    )
    return next((each.view.profile for each in subscribed if each.view.profile), "")


def record_run(app: App, key: str, outcome: RunOutcome, detail: str = "") -> None:
    app.tables.append(RUN_LOG, Run(app.now(), key, outcome, detail))
    app.instruments.digest_runs.labels(outcome.value).inc()


def are_previews_on(app: App, channel: str) -> bool:
    switch = app.tables.get_field(PREVIEW_SWITCHES, channel)
    return bool(switch and switch.is_on)


def set_previews(app: App, channel: str, user: str, *, is_on: bool) -> None:
    app.tables.put_field(PREVIEW_SWITCHES, channel, PreviewSwitch(is_on, user, app.now()))


# --- who may change them

# What Slack does not say is refused. Guests, and people of other workspaces, see and change only what concerns the
# channels that they are in. Refusals are sentences for the user. All may raise SlackUnavailable.

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
