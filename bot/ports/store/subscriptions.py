"""Interface to subscriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from bot.domain.subscriptions.models import Subscription


class SubscriptionStore(Protocol):
    """Subscriptions by id, kept until they are removed. Every method may raise StoreUnavailable."""

    def list_all(self) -> Sequence[Subscription]:
        """List all subscriptions, in no particular order."""

    def list_for_channel(self, channel: str) -> Sequence[Subscription]:
        """List the subscriptions of a channel, in no particular order."""

    def get(self, name: str) -> Subscription | None:
        """Return the subscription of an id, None if there is none."""

    def get_many(self, names: Sequence[str]) -> Mapping[str, Subscription]:
        """Return the subscriptions of these ids by id, in one call. Missing and unreadable ones are left out."""

    def put(self, subscription: Subscription) -> None:
        """Store a subscription in place of an earlier one of its id."""

    def remove(self, name: str) -> None:
        """Remove the subscription of an id."""
