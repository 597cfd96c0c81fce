"""What a process has: settings, clock, sources, store, Slack, and the services that are built on them.

A process or a command opens one :class:`App` and closes it at its end. Each part is built when it is first
used, for two reasons: a command needs the settings of what it uses alone, and nothing in the store may be
written before the store was claimed. Processes with threads build all of it before their first
job (:func:`prepare_worker`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from redis import Redis
from slack_sdk import WebClient

from bot.connections.sources import (
    LiveSources,
    Sources,
    build_package_index,
    connect_store,
    get_display_name,
    list_repositories,
    load_path_settings,
)
from bot.dates import LocalDay, get_today
from bot.errors import SlackCallRefused, StoreUnavailable, UsageError
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.review import ReviewCoverage
from bot.features.merges.summary import SummarisedPullRequest
from bot.features.merges.timeline import DayLister, MergeTimeline
from bot.features.merges.view import Entry
from bot.platform.commands import AllowedRepositories
from bot.platform.costs import Budget, CallMeter, MeteredChat, MeteredModel, RateLimiter
from bot.platform.github.caches import BackgroundCache, DayListCache, FileCache, SourceFileCache
from bot.platform.jobs import JobQueue
from bot.platform.metrics import Instruments
from bot.platform.models import ChatModel, Model, ModelProvider
from bot.platform.models.registry import PROVIDERS, choose_provider, get_model_access
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import PathClasses, PathSettings
from bot.platform.pulls.sources import PullRequestBackground, PullRequests
from bot.platform.slack.answers import (
    ANSWERED_REQUEST,
    EARLIER_ANSWER_CODEC,
    Answer,
    AnsweredRequest,
    ResponseTimes,
)
from bot.platform.slack.client import PostThrottle, make_slack_client
from bot.platform.slack.directory import AccessControl, AccessRules, SlackWorkspaceDirectory
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger, SlackViews
from bot.platform.slack.replies import ReplySender
from bot.platform.slack.requests import SlackRequest
from bot.platform.source.models import SourceFiles
from bot.platform.source.reading import CodeSources
from bot.platform.store import keys
from bot.platform.store.connection import SHORT_TIMEOUTS, Keyspace, RedisCache, RedisTimeouts, require_durable
from bot.platform.store.due_queue import DueQueue
from bot.platform.store.merge_records import HistoryStore
from bot.platform.store.records import RecordStore
from bot.platform.store.server import claim_store, require_schema
from bot.platform.store.spending import SpendingStore
from bot.platform.store.tables import Store
from bot.settings import CHOOSE_REPOSITORY, Settings, require_secret
from bot.usage import NO_PRICES, PriceList
from impact.repository import Repository

if TYPE_CHECKING:
    from bot.features.digest.posts import DigestRecords
    from bot.features.digest.rules import DigestSpec
    from bot.features.digest.service import TouchedDay
    from bot.features.digest.view import RenderedDigest
    from bot.features.profiles.service import Profiles


class _FreshProperty(cached_property[AllowedRepositories]):
    """Computed at each access, as subscriptions change, until the app has a value of its own, which stands."""

    def __get__(self, app: Any, _: type[Any] | None = None) -> AllowedRepositories:  # type: ignore[override]
        return self.func(app)


@dataclass(eq=False)
class App:
    """Everything that a process has opened.

    ``now`` returns the current aware time, ``sleep`` waits so many seconds. ``sources`` are GitHub and the model.
    ``response_times`` says when an asker gets a response, ``throttle`` limits the posts to Slack. ``instruments``
    count what this process does. ``closing`` closes each client that was opened.

    Properties raise ConfigurationError where a setting that they need is missing, StoreUnavailable where the store
    can't be opened, and those with ``slack`` also SlackCallRefused and SlackUnavailable.
    """

    settings: Settings
    now: Callable[[], datetime]
    sleep: Callable[[float], None]
    provider: ModelProvider
    sources: Sources
    closing: ExitStack
    response_times: ResponseTimes = field(default_factory=ResponseTimes)
    throttle: PostThrottle = field(default_factory=PostThrottle)
    instruments: Instruments = field(default_factory=Instruments)
    timeouts: RedisTimeouts = field(default_factory=RedisTimeouts)
    # a type checker takes seconds, or minutes: an answer to an agent has no time for it
    starts_checks: bool = True
    # of this process, once it is open
    jobs: JobQueue = field(init=False, repr=False)
    # the names in the settings of repositories that are kept by their first ones (bot/features/renames.py)
    present_names: dict[Repository, Repository] = field(default_factory=dict, repr=False)
    # what became of the merges of a repository, and when (aware) that was read: a check amends many digests
    recent_outcomes: dict[Repository, tuple[datetime, tuple[MergeOutcome, ...]]] = field(
        default_factory=dict, repr=False
    )

    def hurry(self) -> App:
        """Return the same with a store that fails early, for what answers Slack within its three seconds."""
        hurried = replace(self, timeouts=SHORT_TIMEOUTS)
        if self.settings.slack_bot_token:
            hurried.__dict__.update(slack=self.slack, messenger=self.messenger)
        return hurried

    def get_today(self, zone: ZoneInfo | None = None) -> LocalDay:
        """Return the day that is not over, in ``zone`` or in the time zone of the settings."""
        return get_today(self.now(), zone or self.settings.prdigest_timezone)

    # --- the store

    @cached_property
    def keyspace(self) -> Keyspace:
        """The keys of this deployment: everything on the store gets it."""
        return Keyspace(self.settings.prdigest_store_prefix)

    @cached_property
    def expiring_store(self) -> Redis:
        client = connect_store(self.settings, self.timeouts)
        # the embedded store ends by itself when it has no client
        self.closing.callback(client.close)
        return client

    @cached_property
    def store(self) -> Redis:
        """The same client for permanent records and for jobs, once the store is known to keep them."""
        require_durable(self.expiring_store)
        require_schema(self.expiring_store, self.keyspace)
        return self.expiring_store

    def inspect_store(self) -> Redis:
        """Use the store as it is, whatever it may drop, and note no version in it: for who only looks at it."""
        self.__dict__["store"] = self.expiring_store
        return self.expiring_store

    @cached_property
    def tables(self) -> Store:
        return Store(self.store, self.keyspace, self.instruments.count_cache_read)

    @cached_property
    def cached(self) -> Store:
        """The same for what may be lost."""
        return Store(self.expiring_store, self.keyspace, self.instruments.count_cache_read)

    @cached_property
    def cache(self) -> RedisCache:
        return RedisCache(self.expiring_store, self.keyspace)

    @cached_property
    def due_queue(self) -> DueQueue:
        return DueQueue(self.store, self.keyspace)

    @cached_property
    def digest_records(self) -> DigestRecords:
        from bot.features.digest.posts import RECORDS, DigestRecords  # noqa: PLC0415 (a feature, which stands above)

        def fetch_team() -> str:
            # a command that only reads records needs no Slack
            return self.messenger.fetch_team()

        return DigestRecords(RecordStore(self.store, RECORDS, keys=self.keyspace), fetch_team)

    def list_digest_keys(self, repository: Repository, since: datetime, until: datetime) -> Sequence[str]:
        """Return the keys of a repository's posted digests whose last day ended between two instants (aware)."""
        from bot.features.digest.posts import POSTED_DIGESTS  # noqa: PLC0415

        return self.tables.list_members(POSTED_DIGESTS, since, until, str(repository).lower())

    @cached_property
    def answered_requests(self) -> RecordStore[AnsweredRequest]:
        return RecordStore(self.store, ANSWERED_REQUEST, keys.ANSWER_PROGRESS.lifetime, self.keyspace)

    @cached_property
    def profiles(self) -> Profiles:
        # a feature, which stands above: what looks a profile up here becomes one, too
        from bot.features.profiles.service import Profiles  # noqa: PLC0415

        return Profiles(self)

    @cached_property
    def merge_history(self) -> HistoryStore:
        return HistoryStore(self.store, self.keyspace)

    def claim_store(self) -> None:
        """Claim the store for the workspace of the token, before anything in it is read or changed."""
        require_durable(self.expiring_store)
        claim_store(self.expiring_store, self.keyspace, self.messenger.fetch_team())

    def is_store_writable(self) -> bool:
        """Return whether the store accepts writes: a process whose store is read-only can't accept a command."""
        try:
            self.cache.put(keys.STORE_READINESS.build_key(), "1", keys.STORE_READINESS.lifetime)
        except StoreUnavailable:
            return False
        return True

    # --- Slack

    @cached_property
    def slack(self) -> WebClient:
        """The client of Slack: one for all services, as it limits their posts together."""
        token = require_secret(self.settings.slack_bot_token, "SLACK_BOT_TOKEN", "the bot's token (xoxb-…)")
        return make_slack_client(
            token,
            self.settings.slack_api_url,
            throttle=self.throttle,
            watch=partial(self.instruments.watch_call, "slack"),
        )

    @cached_property
    def messenger(self) -> SlackMessenger:
        return SlackMessenger(self.slack)

    @cached_property
    def directory(self) -> SlackWorkspaceDirectory:
        return SlackWorkspaceDirectory(self.slack)

    @cached_property
    def access_control(self) -> AccessControl:
        settings = self.settings
        rules = AccessRules(
            frozenset({self.messenger.fetch_team()}) | settings.prdigest_allowed_workspaces,
            settings.prdigest_allowed_channels,
            settings.prdigest_allowed_users,
        )
        return AccessControl(rules, RateLimiter(self.store, settings.prdigest_user_limit, self.keyspace))

    @_FreshProperty
    def repositories(self) -> AllowedRepositories:
        """Those of the settings; without any, those of subscriptions. Raises UsageError if there are none yet."""
        web = self.settings.github_web_url
        if repositories := list_repositories(self.settings):
            # they stay: from now on this is no property of the app, but its value
            self.repositories = AllowedRepositories(repositories[0], repositories[1:], web, self.present_names)
            return self.repositories
        from bot.features.subscriptions.tables import list_subscriptions  # noqa: PLC0415

        chosen = tuple(dict.fromkeys(each.repository for each in list_subscriptions(self)))
        if not chosen:
            raise UsageError(CHOOSE_REPOSITORY)
        return AllowedRepositories(chosen[0], chosen[1:], web, self.present_names)

    def find_first_name(self, repository: Repository) -> Repository:
        """Return the name by which everything is kept of a repository."""
        named = str(repository).lower()
        return next((first for first, now in self.present_names.items() if str(now).lower() == named), repository)

    @cached_property
    def replies(self) -> ReplySender:
        earlier = RecordStore(self.store, EARLIER_ANSWER_CODEC, keys.EARLIER_ANSWER.lifetime, self.keyspace)
        return ReplySender(
            self.messenger,
            SlackEphemeralMessenger(self.slack),
            self.answered_requests,
            self.now,
            self._remember_answer,
            self.response_times,
            earlier,
        )

    def _remember_answer(self, asker: SlackRequest, answer: Answer) -> None:
        """Note an answer that is posted into a thread: it is part of the conversation there."""
        if asker.thread and answer.about:
            # a feature, which stands above: the replies are to call it themselves
            from bot.features.questions.service import note_post  # noqa: PLC0415

            note_post(self, asker, answer.about, answer.public.text)

    @cached_property
    def views(self) -> SlackViews:
        return SlackViews(self.slack)

    def name_repository(self, repository: Repository) -> str:
        name = get_display_name(self.settings, repository)
        return self.present_names.get(repository, repository).name if name == repository.name else name

    # --- costs

    @cached_property
    def spending(self) -> SpendingStore:
        """What was spent, for who sets no limits and so reads no settings of them."""
        return SpendingStore(self.expiring_store, self.keyspace)

    @cached_property
    def budget(self) -> Budget:
        settings = self.settings
        return Budget(
            self.spending,
            self.get_today,
            settings.prdigest_daily_budget,
            settings.prdigest_user_budget,
            settings.prdigest_monthly_budget,
            settings.prdigest_review_budget,
        )

    @property
    def prices(self) -> PriceList:
        """The prices of the model; none for what stands in for one, which costs nothing."""
        return NO_PRICES if self.sources.stands_in else self.provider.prices

    @cached_property
    def meter(self) -> CallMeter:
        """The meter of model calls. What stands in for a model costs nothing."""
        if self.sources.stands_in:
            return CallMeter(self.instruments, self.prices)
        limiter = RateLimiter(self.expiring_store, self.settings.prdigest_user_calls, self.keyspace)
        return CallMeter(self.instruments, self.prices, self.budget, limiter)

    @cached_property
    def model(self) -> Model | None:
        """The model that summarizes, within the budgets; None without a key."""
        return None if self.sources.model is None else MeteredModel(self.sources.model, self.meter)

    @cached_property
    def chat(self) -> ChatModel | None:
        """The model that answers and reviews, within the budgets; None without a key."""
        return None if self.sources.chat is None else MeteredChat(self.sources.chat, self.meter)

    # --- pull requests

    @cached_property
    def paths(self) -> PathSettings:
        loaded = load_path_settings(self.settings)
        renamed = {
            str(first).lower(): loaded.by_repository[key]
            for first, now in self.present_names.items()
            if (key := str(now).lower()) in loaded.by_repository
        }
        return replace(loaded, by_repository={**loaded.by_repository, **renamed})

    @cached_property
    def pulls(self) -> PullRequests:
        return FileCache(self.sources.pulls, self.cached)

    @cached_property
    def day_lists(self) -> PullRequests:
        """The same, with the lists of past days through the cache, too."""
        return DayListCache(self.pulls, self.cached, self.now)

    @cached_property
    def source_files(self) -> SourceFiles | None:
        """Whole files, through the cache; None where there are none."""
        files = self.sources.source_files
        return SourceFileCache(files, self.cached) if files else None

    @cached_property
    def code(self) -> CodeSources:
        return CodeSources(self.source_files, self.sources.source_search, build_package_index(self.settings))

    @cached_property
    def background(self) -> PullRequestBackground | None:
        """Discussions, and the pull requests of commits, through the cache; None where there are none."""
        source = self.sources.background
        return BackgroundCache(source, self.cached) if source else None

    # what is a feature, for services that are none yet: they stand below features

    def load_files(self, pull: PullRequest) -> PullRequest:
        from bot.features.summaries import reading  # noqa: PLC0415

        return reading.load_files(self, pull)

    def refresh_summary(self, pull: PullRequest) -> SummarisedPullRequest:
        from bot.features.summaries import service  # noqa: PLC0415

        return service.refresh_summary(self, pull)

    def review_entries(
        self, repository: Repository, entries: tuple[Entry, ...], classes: PathClasses
    ) -> tuple[tuple[Entry, ...], ReviewCoverage]:
        from bot.features.reviews import service  # noqa: PLC0415

        return service.review_entries(self, repository, entries, classes)

    def is_list_reduced(self, repository: Repository) -> bool:
        from bot.features.risks import service  # noqa: PLC0415

        return service.is_list_reduced(self, repository)

    # --- history

    @cached_property
    def timeline(self) -> MergeTimeline:
        """The merges around a day. It opens the store of history when it first reads: a digest can do without."""
        return self._build_timeline(self.pulls.list_merged)

    @cached_property
    def day_timeline(self) -> MergeTimeline:
        """The same for digests: an answer does not wait while one of them asks GitHub what was merged since."""
        return self._build_timeline(
            DayListCache(self.pulls, self.cached, self.now, keeps_ongoing=True).list_merged
        )

    def _build_timeline(self, list_day: DayLister) -> MergeTimeline:
        classes, is_sample = self.paths.get_path_classes, bool(self.sources.stands_in)
        return MergeTimeline(lambda: self.merge_history, list_day, self.now, classes, is_sample=is_sample)

    # --- digests

    def read_touches(self, profile: str, pulls: Sequence[PullRequest]) -> TouchedDay:
        """Return what merges mean for the profile of a name; without one, no store is opened for that."""
        from bot.features.digest.service import read_touches  # noqa: PLC0415 (a feature, which stands above)

        return read_touches(self, profile, pulls)

    def compose_digest(
        self, spec: DigestSpec, notes: Sequence[str] = (), *, is_preview: bool = False, reader: str = ""
    ) -> RenderedDigest:
        """Build a digest and render its messages; a preview reviews nothing. ``reader`` reads it alone."""
        from bot.features.digest.service import DigestUse, compose_messages  # noqa: PLC0415

        return compose_messages(self, spec, notes, DigestUse.PREVIEW if is_preview else DigestUse.POST, reader)

    def require_presence(self, asker: SlackRequest) -> None:
        # the feature stands above that of digests, which asks here, as for the zone
        from bot.features.subscriptions import tables  # noqa: PLC0415

        tables.require_presence(self, asker)

    def identify(self, asker: SlackRequest) -> SlackRequest:
        """Return a request with the workspace of its asker. Slack is asked where the request does not say.

        Raises UsageError for people who may not ask, and for those that Slack does not know; and SlackUnavailable.
        """
        if asker.team:
            # checked when it came in
            return asker
        with suppress(SlackCallRefused):
            asker = replace(asker, team=self.directory.fetch_user(asker.user).team)
        if refusal := self.access_control.explain_exclusion(asker):
            raise UsageError(refusal)
        return asker

    def serve(self, user: str) -> App:
        """Return the same for what one person asks for: its profiles are those that they may see."""
        from bot.features.profiles.service import Profiles  # noqa: PLC0415
        from bot.features.subscriptions.tables import can_see_profile  # noqa: PLC0415

        served = copy(self)
        served.profiles = Profiles(self, cache(partial(can_see_profile, self, user)))
        return served

    def get_channel_zone(self, channel: str) -> ZoneInfo | None:
        from bot.features.subscriptions import tables  # noqa: PLC0415

        return tables.get_channel_zone(self, channel)

    def get_channel_profile(self, channel: str, repository: Repository) -> str:
        from bot.features.subscriptions import tables  # noqa: PLC0415

        return tables.get_channel_profile(self, channel, repository)


@contextmanager
def open_app(
    settings: Settings,
    now: Callable[[], datetime],
    sleep: Callable[[float], None],
    sources: Sources | None = None,
    response_times: ResponseTimes | None = None,
    providers: Sequence[ModelProvider] = PROVIDERS,
    throttle: PostThrottle | None = None,
) -> Iterator[App]:
    """Yield the app of a process, and close at the end everything that was opened.

    ``sources`` replaces GitHub and the model. ``providers`` are those whose models may be asked.

    Raises:
        ConfigurationError: a setting that the chosen cloud needs is missing.
    """
    provider, instruments = choose_provider(settings, providers), Instruments()
    if sources is None:
        # at the start of every process, not at the first prompt of one
        get_model_access(settings, provider)
    with ExitStack() as closing:
        present_names = dict[Repository, Repository]()
        watch = partial(instruments.watch_call, "github")
        sources = sources or LiveSources(settings, now, provider, watch, present_names)
        closing.callback(sources.close)
        yield App(
            settings,
            now,
            sleep,
            provider,
            sources,
            closing,
            response_times or ResponseTimes(),
            throttle or PostThrottle(),
            instruments,
            present_names=present_names,
        )


# what jobs use; the rest is built on these
_OF_WORKERS = (
    "access_control", "background", "budget", "cached", "chat", "code", "day_lists", "day_timeline",
    "digest_records", "directory", "due_queue", "model", "profiles", "pulls", "replies",
    "source_files", "tables", "timeline", "views",
)  # fmt: skip
_OF_CLOCK = ("cache", "digest_records", "due_queue", "messenger", "tables")
_OF_LISTENERS = (
    "access_control", "cache", "tables",
)  # fmt: skip


def prepare_worker(app: App) -> App:
    """Build what jobs use: a missing setting is told at the start, and threads share what is there."""
    return _prepare(app, _OF_WORKERS)


def prepare_clock(app: App) -> App:
    """Build what decides at each tick what is due, for the same reasons."""
    return _prepare(app, _OF_CLOCK)


def prepare_listeners(app: App) -> App:
    """Build what answers Slack, for the same reasons."""
    return _prepare(app, _OF_LISTENERS)


def _prepare(app: App, names: Sequence[str]) -> App:
    # what serves one person is a copy, which has what was there before
    with suppress(UsageError):
        _ = app.repositories
    for name in names:
        getattr(app, name)
    return app
