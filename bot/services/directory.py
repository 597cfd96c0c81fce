"""All subscriptions: those that people made in Slack, and the one of the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.domain.subscriptions import Subscription
from bot.ports import Subscriptions


class Directory:
    """Where subscriptions are looked up. ``fixed`` is the one of the settings. All may raise StoreUnavailable."""

    def __init__(self, kept: Subscriptions, fixed: Subscription | None) -> None:
        self._kept = kept
        self.fixed = fixed

    def all(self) -> Sequence[Subscription]:
        """Every one, that of the settings first, then by repository and time."""
        own = () if self.fixed is None else (self.fixed,)
        kept = (each for each in self._kept.all() if each.id not in {one.id for one in own})
        return (*own, *sorted(kept, key=lambda each: (str(each.repository), each.timing.at, each.id)))

    def of(self, channel: str) -> Sequence[Subscription]:
        """Those of a channel."""
        return tuple(each for each in self.all() if each.channel == channel)

    def get(self, name: str) -> Subscription | None:
        """The one of an id."""
        return self.fixed if self.fixed and name == self.fixed.id else self._kept.get(name)

    def pause(self, subscription: Subscription) -> None:
        """Nothing is posted for it any more; that of the settings can't be paused."""
        if not subscription.is_fixed:
            self._kept.put(replace(subscription, is_paused=True))
