"""What is kept of subscriptions and their runs, and who is subscribed to what. All may raise StoreUnavailable."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from pydantic_core import to_json

from bot.app import App
from bot.errors import StoreUnavailable
from bot.features.subscriptions.rules import Run, RunOutcome, Subscription, Timing
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
