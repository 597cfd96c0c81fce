"""All subscriptions: those that users created in Slack, and the one of the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

from bot.domain.subscriptions.models import Subscription
from bot.ports import SubscriptionStore


class SubscriptionRepository:
    """Repository of subscriptions. ``fixed`` is that of the settings. Every method may raise StoreUnavailable."""

    def __init__(self, store: SubscriptionStore, fixed: Subscription | None) -> None:
        self._store = store
        self.fixed = fixed
        self._fixed_id = fixed.id if fixed else ""

    def list_all(self) -> Sequence[Subscription]:
        """Return all subscriptions, that of the settings first, then by repository and time."""
        fixed = () if self.fixed is None else (self.fixed,)
        return (*fixed, *self._sort_stored(self._store.list_all()))

    def list_for_channel(self, channel: str) -> Sequence[Subscription]:
        """Return the subscriptions of a channel, in the order of :meth:`list_all`."""
        fixed = (self.fixed,) if self.fixed and self.fixed.channel == channel else ()
        return (*fixed, *self._sort_stored(self._store.list_for_channel(channel)))

    def _sort_stored(self, stored: Sequence[Subscription]) -> Sequence[Subscription]:
        """Sort by repository and time those that users created."""
        created = (each for each in stored if each.id != self._fixed_id)
        return sorted(created, key=lambda each: (str(each.repository), each.timing.at, each.id))

    def get_time_zone(self, channel: str, default: ZoneInfo) -> ZoneInfo | None:
        """Return the time zone of a channel: that of its subscriptions, or the default if it has none.

        It is None if its subscriptions differ: readers could not know which one is meant.
        """
        zones = {each.timing.zone for each in self.list_for_channel(channel)} or {default}
        return zones.pop() if len(zones) == 1 else None

    def get(self, name: str) -> Subscription | None:
        """Return the subscription with an id."""
        return self.fixed if name == self._fixed_id else self._store.get(name)

    def get_many(self, names: Sequence[str]) -> Mapping[str, Subscription]:
        """Return the existing and readable subscriptions among these ids, by id."""
        fixed = {self._fixed_id: self.fixed} if self.fixed and self._fixed_id in names else {}
        return {**self._store.get_many(names), **fixed}

    def pause(self, subscription: Subscription) -> None:
        """Pause a subscription. That of the settings cannot be paused."""
        if not subscription.is_fixed:
            self._store.put(replace(subscription, is_paused=True))
