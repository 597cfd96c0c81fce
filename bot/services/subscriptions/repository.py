"""All subscriptions: those that people made in Slack, and the one of the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from bot.domain.subscriptions.models import Subscription
from bot.ports import SubscriptionStore


class SubscriptionRepository:
    """Where subscriptions are looked up. ``fixed`` is the one of the settings. All may raise StoreUnavailable."""

    def __init__(self, store: SubscriptionStore, fixed: Subscription | None) -> None:
        self._store = store
        self.fixed = fixed
        self._fixed_id = fixed.id if fixed else ""

    def list_all(self) -> Sequence[Subscription]:
        """Every one, that of the settings first, then by repository and time."""
        fixed = () if self.fixed is None else (self.fixed,)
        stored = (each for each in self._store.list_all() if each.id != self._fixed_id)
        return (*fixed, *sorted(stored, key=lambda each: (str(each.repository), each.timing.at, each.id)))

    def list_for_channel(self, channel: str) -> Sequence[Subscription]:
        """Those of a channel."""
        return tuple(each for each in self.list_all() if each.channel == channel)

    def get_time_zone(self, channel: str, default: ZoneInfo) -> ZoneInfo | None:
        """Get the time zone of a channel: that of its subscriptions, or the usual one where it has none.

        None where its subscriptions differ: readers can't know then which is meant.
        """
        zones = {each.timing.zone for each in self.list_for_channel(channel)} or {default}
        return zones.pop() if len(zones) == 1 else None

    def get(self, name: str) -> Subscription | None:
        """The one of an id."""
        return self.fixed if name == self._fixed_id else self._store.get(name)

    def get_many(self, names: Sequence[str]) -> Mapping[str, Subscription]:
        """The ones of these ids that there are and that can be read, by their ids."""
        fixed = {self._fixed_id: self.fixed} if self.fixed and self._fixed_id in names else {}
        return {**self._store.get_many(names), **fixed}

    def pause(self, subscription: Subscription) -> None:
        """Nothing is posted for it any more; that of the settings can't be paused."""
        if not subscription.is_fixed:
            self._store.put(replace(subscription, is_paused=True))
