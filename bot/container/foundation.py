"""What all services of a process stand on: settings, time, sources, and the clients of the store and of Slack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from redis import Redis
from slack_sdk import WebClient

from bot.adapters.metrics import Instruments, ObservedCache
from bot.adapters.redis import (
    SHORT_TIMEOUTS,
    Keyspace,
    RedisCache,
    RedisTimeouts,
    RedisWorkspaceOwner,
    StoreTransfer,
    migrate_schema,
    require_durable,
)
from bot.adapters.slack import PostThrottle, SlackMessenger, make_slack_client
from bot.container.connections.credentials import require_secret
from bot.container.connections.from_settings import connect_store
from bot.container.connections.providers import PROVIDERS, choose_provider, get_model_access
from bot.container.connections.sources import LiveSources
from bot.domain.time.day import LocalDay, get_today
from bot.ports import Cache, ModelProvider, Sources
from bot.services.operations.ownership import StoreOwnership
from bot.services.slack.answers.asker_notices import ResponseTimes
from bot.settings import Settings


@dataclass(frozen=True, eq=False)
class Foundation:
    """What the functions that build services take.

    Clients are opened when they are first used, for two reasons: a command needs the settings of what it uses
    alone, and nothing in the store may be migrated before the store was claimed. ``closing`` closes each that was
    opened. ``now`` returns the current aware time, ``sleep`` waits so many seconds. ``response_times`` says when
    an asker gets a response, ``throttle`` limits the posts to Slack. ``instruments`` count what this process does.
    """

    settings: Settings
    now: Callable[[], datetime]
    sleep: Callable[[float], None]
    provider: ModelProvider
    sources: Sources
    response_times: ResponseTimes
    throttle: PostThrottle
    instruments: Instruments
    closing: ExitStack

    def get_today(self, zone: ZoneInfo | None = None) -> LocalDay:
        """Return the day that is not over, in ``zone`` or in the time zone of the settings."""
        return get_today(self.now(), zone or self.settings.prdigest_timezone)

    @cached_property
    def keyspace(self) -> Keyspace:
        """The keys of this deployment: everything on the store gets it."""
        return Keyspace(self.settings.prdigest_store_prefix)

    @cached_property
    def expiring_store(self) -> Redis:
        """The store for what expires by itself, which may drop it earlier. Raises StoreUnavailable."""
        return self._connect_store(RedisTimeouts())

    @cached_property
    def store(self) -> Redis:
        """The same client for permanent records and for jobs.

        Raises StoreUnavailable if the store does not answer, may drop records, or can't be migrated.
        """
        self._require_current_store()
        return self.expiring_store

    @cached_property
    def hurried_store(self) -> Redis:
        """A client for processes that answer within Slack's three seconds: it fails early. Raises as ``store``."""
        self._require_current_store()
        return self._connect_store(SHORT_TIMEOUTS)

    @cached_property
    def cache(self) -> Cache:
        """The cache, for what is remembered for a while."""
        return self.observe_cache(RedisCache(self.expiring_store, self.keyspace))

    @cached_property
    def slack(self) -> WebClient:
        """The client of Slack: one for all services, as it limits their posts together."""
        token = require_secret(self.settings.slack_bot_token, "SLACK_BOT_TOKEN", "the bot's token (xoxb-…)")
        return make_slack_client(
            token,
            self.settings.slack_api_url,
            throttle=self.throttle,
            watch=self.instruments.watch_slack_call,
        )

    @cached_property
    def messenger(self) -> SlackMessenger:
        """Slack as the services know it."""
        return SlackMessenger(self.slack)

    def observe_cache(self, cache: Cache) -> Cache:
        """Return the cache with a count of its lookups."""
        return ObservedCache(cache, self.instruments)

    def _connect_store(self, timeouts: RedisTimeouts) -> Redis:
        client = connect_store(self.settings, timeouts)
        # the embedded store ends by itself when it has no client
        self.closing.callback(client.close)
        return client

    def _require_current_store(self) -> None:
        """Raise StoreUnavailable if the store is unfit for permanent records; bring them to the current schema."""
        require_durable(self.expiring_store)
        migrate_schema(self.expiring_store, self.keyspace)


@contextmanager
def open_foundation(
    settings: Settings,
    now: Callable[[], datetime],
    sleep: Callable[[float], None],
    sources: Sources | None = None,
    response_times: ResponseTimes | None = None,
    providers: Sequence[ModelProvider] = PROVIDERS,
    throttle: PostThrottle | None = None,
) -> Iterator[Foundation]:
    """Yield the foundation of a process, and close at the end everything that was opened.

    ``sources`` replaces GitHub and the model. ``providers`` are those whose models may be asked.

    Raises:
        ConfigurationError: a setting that the chosen cloud needs is missing.
    """
    provider, instruments = choose_provider(settings, providers), Instruments()
    if sources is None:
        # at the start of every process, not at the first prompt of one
        get_model_access(settings, provider)
    with ExitStack() as closing:
        sources = sources or LiveSources(settings, now, provider, instruments.watch_github_call)
        closing.callback(sources.close)
        yield Foundation(
            settings=settings,
            now=now,
            sleep=sleep,
            provider=provider,
            sources=sources,
            response_times=response_times or ResponseTimes(),
            throttle=throttle or PostThrottle(),
            instruments=instruments,
            closing=closing,
        )


def build_ownership(base: Foundation) -> StoreOwnership:
    """Build what claims the store, before anything in it is read or changed. Raises StoreUnavailable."""
    require_durable(base.expiring_store)
    owner = RedisWorkspaceOwner(base.expiring_store, base.keyspace)
    return StoreOwnership(owner, base.messenger.fetch_team, base.settings.prdigest_store_prefix)


def build_transfer(base: Foundation) -> StoreTransfer:
    """Build the transfer of permanent records from one store to another. Raises StoreUnavailable."""
    require_durable(base.expiring_store)
    return StoreTransfer(base.expiring_store, base.keyspace)
