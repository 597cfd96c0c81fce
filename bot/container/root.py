"""Every service, built of the settings and the adapters when it is first asked for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from redis import Redis
from slack_sdk import WebClient

from bot.adapters.caching import FileCache
from bot.adapters.redis import (
    SHORT_TIMEOUTS,
    Keyspace,
    RedisCache,
    RedisLostJobStore,
    RedisRateLimiter,
    RedisRecordStore,
    RedisTimeouts,
    RedisWorkspaceOwner,
    StoreTransfer,
    migrate_schema,
    require_durable,
)
from bot.adapters.slack import PostThrottle, SlackEphemeralMessenger, SlackMessenger, SlackViews, make_slack_client
from bot.container.costs import CostWiring
from bot.container.credentials import require_secret
from bot.container.from_settings import connect_store, list_repositories, load_path_settings
from bot.container.history import HistoryWiring
from bot.container.providers import PROVIDERS, choose_provider
from bot.container.questions import QuestionWiring
from bot.container.sources import LiveSources
from bot.container.subscriptions import SubscriptionWiring
from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.errors import ConfigurationError
from bot.domain.keyspace.keys import ANSWER_PROGRESS
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.path_classes import PathSettings
from bot.domain.time.day import LocalDay, get_today
from bot.ports import Cache, ModelProvider, PullRequests, RecordStore, Sources
from bot.services.digest.builder import DigestBuilder, DigestDependencies, OverviewBuilder
from bot.services.digest.overview_writer import OverviewWriter, skip_overview
from bot.services.operations.lost_jobs import LostJobReporter
from bot.services.operations.metering import MeteredModel
from bot.services.operations.ownership import StoreOwnership
from bot.services.risk.risk_lister import RiskLister
from bot.services.slack.access_control import AccessControl, AccessRules
from bot.services.slack.answered_request import ANSWERED_REQUEST, AnsweredRequest
from bot.services.slack.answers import AnswerBuilder
from bot.services.slack.asker_notices import ResponseTimes
from bot.services.slack.details_modal import DetailsModal
from bot.services.slack.replies import ReplySender
from bot.services.summaries.entry_cache import EntryCache
from bot.services.summaries.prompts import SUMMARY_VERSION
from bot.services.summaries.reader import PullRequestReader
from bot.services.summaries.structured_completion import StructuredCompletion
from bot.services.summaries.summarizer import Summariser
from bot.settings import Settings

log = logging.getLogger(__name__)


class Wiring:
    """Builds each service when it is first asked for, so that a command needs only its own settings.

    ``outside`` takes the place of GitHub and of the model; ``promises`` says when an asker hears something;
    ``pace`` is that of posts to Slack. ``providers`` are those whose models may be asked.
    """

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
        outside: Sources | None = None,
        promises: ResponseTimes | None = None,
        providers: Sequence[ModelProvider] = PROVIDERS,
        pace: PostThrottle | None = None,
    ) -> None:
        self._promises = promises or ResponseTimes()
        self.provider = choose_provider(settings, providers)
        self.sources: Sources = outside or LiveSources(settings, now, self.provider)
        self._settings = settings
        self._now = now
        self._sleep = sleep
        self._pace = pace or PostThrottle()

    @cached_property
    def digest_builder(self) -> DigestBuilder:
        """Builds digests and single entries."""
        return self.create_digest_builder(self.pulls)

    @cached_property
    def report_builder(self) -> DigestBuilder:
        """Builds digests without an overview: a report shows none."""
        return self._create_builder(self.pulls, skip_overview)

    @cached_property
    def subscriptions(self) -> SubscriptionWiring:
        """What posts by itself."""
        return SubscriptionWiring(self, self._settings, self._now, self._sleep)

    @cached_property
    def history(self) -> HistoryWiring:
        """What looks back."""
        return HistoryWiring(self, self._settings, self._now, self._sleep)

    @cached_property
    def questions(self) -> QuestionWiring:
        """What answers questions."""
        return QuestionWiring(self, self._settings, self._now, self._sleep)

    @cached_property
    def costs(self) -> CostWiring:
        """What bounds the cost of model calls."""
        return CostWiring(self, self._settings, self._now, self._sleep)

    def create_digest_builder(self, pulls: PullRequests) -> DigestBuilder:
        """Builds digests of what is listed there."""
        return self._create_builder(
            pulls, OverviewWriter(self._structured_completion, self._settings.prdigest_answer_model).write_overview
        )

    def _create_builder(self, pulls: PullRequests, overview: OverviewBuilder) -> DigestBuilder:
        return DigestBuilder(
            pulls,
            self.entries.refresh_summary,
            overview,
            self.reader.load_files,
            self._settings.prdigest_concurrency,
            self.paths.get_path_classes,
            self._create_digest_dependencies(pulls),
        )

    def _create_digest_dependencies(self, pulls: PullRequests) -> DigestDependencies:
        back = self.history
        return DigestDependencies(
            back.create_merge_timeline(pulls).load_day_context,
            back.merge_timeline.record_merges,
            back.track_record.is_reduced,
        )

    @cached_property
    def pulls(self) -> PullRequests:
        """Pull requests, their files through the cache."""
        return FileCache(self.sources.pulls, self.cache)

    @cached_property
    def slack(self) -> WebClient:
        """The client of Slack, for the listeners."""
        token = require_secret(self._settings.slack_bot_token, "SLACK_BOT_TOKEN", "the bot's token (xoxb-…)")
        return make_slack_client(token, self._settings.slack_api_url, throttle=self._pace)

    @cached_property
    def messenger(self) -> SlackMessenger:
        """Slack as the services know it."""
        return SlackMessenger(self.slack)

    @cached_property
    def entries(self) -> EntryCache:
        """Single pull requests, kept."""
        settings = self._settings
        version = f"{settings.prdigest_summary_model} {SUMMARY_VERSION} {settings.prdigest_diff_tokens}"
        return EntryCache(
            self.pulls,
            self.reader,
            self.cache,
            version,
            self.history.merge_timeline.assess_risk,
            self.paths.get_path_classes,
        )

    @cached_property
    def answers(self) -> AnswerBuilder:
        """What people ask for, as messages."""
        back = self.history
        risks = RiskLister(
            self.pulls,
            self.reader,
            self.entries,
            self._settings.prdigest_concurrency,
            self.paths.get_path_classes,
            back.merge_timeline.read_merges_or_none,
            back.track_record.is_reduced,
        )
        return AnswerBuilder(
            self.entries,
            risks,
            self.subscriptions.composer.build_days,
            self.get_display_name,
            self.get_today,
            back.track_record.score_lists,
        )

    @cached_property
    def replies(self) -> ReplySender:
        """Answers each request once."""
        whispers, remember = SlackEphemeralMessenger(self.slack), self.questions.remember_answer
        return ReplySender(self.messenger, whispers, self.answered_requests, self._now, remember, self._promises)

    @cached_property
    def lost_jobs(self) -> LostJobReporter:
        """Tells of jobs that will not be done."""
        aside = RedisLostJobStore(self.store, self.keyspace)
        return LostJobReporter(
            self.replies, self.questions.conversations, aside, self.subscriptions.incident_reporter
        )

    @cached_property
    def details(self) -> DetailsModal:
        """Windows about one pull request."""
        return DetailsModal(self.entries, SlackViews(self.slack), self.replies)

    @cached_property
    def repositories(self) -> AllowedRepositories:
        """What the bot may speak of. Raises NotSetUp where that is nothing."""
        known = list_repositories(self._settings)
        if not known:
            raise ConfigurationError("Set PRDIGEST_REPO to the repository that the bot speaks of, as owner/name.")
        return AllowedRepositories(known[0], known[1:], self._settings.github_web_url)

    @cached_property
    def paths(self) -> PathSettings:
        """Which paths of which repository are what. Raises NotSetUp where the file that says so can't be used."""
        return load_path_settings(self._settings)

    @cached_property
    def access_control(self) -> AccessControl:
        """Who may ask."""
        settings = self._settings
        own = self.messenger.fetch_team()
        allowed = AccessRules(
            frozenset({own}) | settings.prdigest_allowed_workspaces,
            settings.prdigest_allowed_channels,
            settings.prdigest_allowed_users,
        )
        return AccessControl(
            allowed, RedisRateLimiter(self.hurried_store, settings.prdigest_user_limit, self.keyspace)
        )

    def prepare_services(self) -> None:
        """Build what jobs need before the first one waits for it.

        Raises:
            NotSetUp, SlackRefused, SlackUnavailable, StoreUnavailable: a setting is missing or wrong.
        """
        self.sources.open_sources()
        _ = (
            self.answers,
            self.details,
            self.subscriptions.delivery,
            self.questions.conversations,
            self.messenger.fetch_team(),
        )

    def get_display_name(self, repository: Repository) -> str:
        """What headings call a repository."""
        settings = self._settings
        if settings.prdigest_name and repository == settings.prdigest_repo:
            return settings.prdigest_name
        return repository.name

    def get_today(self, zone: ZoneInfo | None = None) -> LocalDay:
        """The day that is not over, in a zone, or in that of the settings."""
        return get_today(self._now(), zone or self._settings.prdigest_timezone)

    @cached_property
    def cache(self) -> Cache:
        """The cache, for what is remembered for a while."""
        return RedisCache(self._store, self.keyspace)

    @cached_property
    def keyspace(self) -> Keyspace:
        """How this deployment's keys are made: whatever uses the store gets it."""
        return Keyspace(self._settings.prdigest_store_prefix)

    @cached_property
    def ownership(self) -> StoreOwnership:
        """Claims the store, before anything in it is read or changed."""
        require_durable(self._store)
        owner = RedisWorkspaceOwner(self._store, self.keyspace)
        return StoreOwnership(owner, self.messenger.fetch_team, self._settings.prdigest_store_prefix)

    @cached_property
    def hurried_store(self) -> Redis:
        """The same for those who must answer within Slack's three seconds, if only that they can't."""
        require_durable(self._store)
        migrate_schema(self._store, self.keyspace)
        return connect_store(self._settings, SHORT_TIMEOUTS)

    @cached_property
    def hurried_cache(self) -> Cache:
        """The cache for the same."""
        return RedisCache(self.hurried_store, self.keyspace)

    @cached_property
    def store(self) -> Redis:
        """The store itself, for the job queue. It must not drop anything by itself."""
        require_durable(self._store)
        migrate_schema(self._store, self.keyspace)
        return self._store

    @property
    def transfer(self) -> StoreTransfer:
        """Takes what is kept for good to another store."""
        require_durable(self._store)
        return StoreTransfer(self._store, self.keyspace)

    @property
    def has_model(self) -> bool:
        """Whether summaries will be a model's."""
        return self.sources.has_model

    def close(self) -> None:
        """Let go of the store and of what is outside; the embedded store ends by itself when nobody uses it."""
        for name in ("hurried_store", "_store"):
            if opened := self.__dict__.get(name):
                opened.close()
        self.sources.close()

    @property
    def expiring_store(self) -> Redis:
        """The store for what expires by itself, which may drop it earlier."""
        return self._store

    @cached_property
    def _store(self) -> Redis:
        return connect_store(self._settings, RedisTimeouts())

    @cached_property
    def reader(self) -> PullRequestReader:
        """Reads pull requests."""
        return PullRequestReader(self.pulls, self._summariser.summarise_pull_request, self.paths.get_path_classes)

    @cached_property
    def _summariser(self) -> Summariser:
        settings = self._settings
        model, budget = settings.prdigest_summary_model, settings.prdigest_diff_tokens
        must_prove = not self.sources.stands_in
        return Summariser(
            self._structured_completion, model, budget, self.paths.get_path_classes, must_prove=must_prove
        )

    @cached_property
    def answered_requests(self) -> RecordStore[AnsweredRequest]:
        """How far each request was answered."""
        return RedisRecordStore(self.store, ANSWERED_REQUEST, ANSWER_PROGRESS.lifetime, self.keyspace)

    @cached_property
    def _structured_completion(self) -> StructuredCompletion | None:
        model, meter = self.sources.model, self.costs.meter
        if model is None:
            return None
        metered = MeteredModel(model, meter) if meter else model
        return StructuredCompletion(metered, self.cache, self._sleep, self.provider.prices)
