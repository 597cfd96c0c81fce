"""What the store keeps of subscriptions and runs, for tests that plant it or look at it."""

from collections.abc import Sequence

from redis import Redis

from bot.features.subscriptions.rules import Run, Subscription
from bot.features.subscriptions.tables import RUN_LOG, SUBSCRIPTIONS
from bot.platform.store.connection import UNPREFIXED, Keyspace
from bot.platform.store.tables import Store


class StoredSubscriptions:
    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self.tables = Store(client, keys)

    def list_all(self) -> Sequence[Subscription]:
        return tuple(self.tables.list_fields(SUBSCRIPTIONS).values())

    def get(self, name: str) -> Subscription | None:
        return self.tables.get_field(SUBSCRIPTIONS, name)

    def put(self, subscription: Subscription) -> None:
        self.tables.put_field(SUBSCRIPTIONS, subscription.id, subscription)

    def remove(self, name: str) -> None:
        self.tables.remove_field(SUBSCRIPTIONS, name)


class RunLog:
    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self.tables = Store(client, keys)

    def add_run(self, run: Run) -> None:
        self.tables.append(RUN_LOG, run)

    def list_recent(self, count: int) -> Sequence[Run]:
        return self.tables.list_recent(RUN_LOG, count)
