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
    HURRIED,
    Keyspace,
    Moving,
    Patience,
    RedisAside,
    RedisCache,
    RedisLimiter,
    RedisOwner,
    RedisRecordStore,
    migrate,
    require_durable,
)
from bot.adapters.slack import PostThrottle, SlackEphemeralMessenger, SlackMessenger, SlackViews, make_slack_client
from bot.container.costs import Costs
from bot.container.credentials import required
from bot.container.from_settings import connected, known_repositories, path_settings
from bot.container.history import LookingBack
from bot.container.providers import PROVIDERS, choose_provider
from bot.container.questions import Talking
from bot.container.sources import LiveSources
from bot.container.subscriptions import Scheduling
from bot.domain.conversations.commands import Repositories
from bot.domain.errors import ConfigurationError
from bot.domain.keyspace.keys import ANSWER
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.path_classes import PathSettings
from bot.domain.time.day import LocalDay, get_today
from bot.ports import Cache, ModelProvider, PullRequests, RecordStore, Sources
from bot.services.digest.builder import DailyDigest, MakeOverview, Surroundings
from bot.services.digest.overview import Overviewer, no_overview
from bot.services.operations.lost_jobs import LostJobs
from bot.services.operations.metering import MeteredModel
from bot.services.operations.ownership import StoreOwnership
from bot.services.risk.risk_lister import RiskLister
from bot.services.slack.access_control import AccessControl, AccessRules
from bot.services.slack.answered_request import ANSWERED_REQUEST, AnsweredRequest
from bot.services.slack.answers import AnswerBuilder
from bot.services.slack.asker_notices import ResponseTimes
from bot.services.slack.details import DetailsModal
from bot.services.slack.replies import Replies
from bot.services.summaries.entry_cache import Entries
from bot.services.summaries.prompts import SUMMARY
from bot.services.summaries.reader import Reader
from bot.services.summaries.structured_completion import Asker
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
        self.outside: Sources = outside or LiveSources(settings, now, self.provider)
        self._settings = settings
        self._now = now
        self._sleep = sleep
        self._pace = pace or PostThrottle()

    @cached_property
    def daily(self) -> DailyDigest:
        """Builds digests and single entries."""
        return self.daily_of(self.pulls)

    @cached_property
    def daily_for_reports(self) -> DailyDigest:
        """Builds digests without an overview: a report shows none."""
        return self._daily(self.pulls, no_overview)

    @cached_property
    def scheduling(self) -> Scheduling:
        """What posts by itself."""
        return Scheduling(self, self._settings, self._now, self._sleep)

    @cached_property
    def looking_back(self) -> LookingBack:
        """What looks back."""
        return LookingBack(self, self._settings, self._now, self._sleep)

    @cached_property
    def talking(self) -> Talking:
        """What answers questions."""
        return Talking(self, self._settings, self._now, self._sleep)

    @cached_property
    def costs(self) -> Costs:
        """What bounds the cost of model calls."""
        return Costs(self, self._settings, self._now, self._sleep)

    def daily_of(self, pulls: PullRequests) -> DailyDigest:
        """Builds digests of what is listed there."""
        return self._daily(pulls, Overviewer(self._asker, self._settings.prdigest_answer_model).overview)

    def _daily(self, pulls: PullRequests, overview: MakeOverview) -> DailyDigest:
        return DailyDigest(
            pulls,
            self.entries.read,
            overview,
            self.reader.with_files,
            self._settings.prdigest_concurrency,
            self.paths.get_path_classes,
            self._surroundings_of(pulls),
        )

    def _surroundings_of(self, pulls: PullRequests) -> Surroundings:
        back = self.looking_back
        return Surroundings(
            back.chronicle_of(pulls).load_day_context, back.chronicle.record_merges, back.scoring.is_reduced
        )

    @cached_property
    def pulls(self) -> PullRequests:
        """Pull requests, their files through the cache."""
        return FileCache(self.outside.pulls, self.cache)

    @cached_property
    def slack(self) -> WebClient:
        """The client of Slack, for the listeners."""
        token = required(self._settings.slack_bot_token, "SLACK_BOT_TOKEN", "the bot's token (xoxb-…)")
        return make_slack_client(token, self._settings.slack_api_url, pace=self._pace)

    @cached_property
    def messenger(self) -> SlackMessenger:
        """Slack as the services know it."""
        return SlackMessenger(self.slack)

    @cached_property
    def entries(self) -> Entries:
        """Single pull requests, kept."""
        settings = self._settings
        version = f"{settings.prdigest_summary_model} {SUMMARY} {settings.prdigest_diff_tokens}"
        return Entries(
            self.pulls,
            self.reader,
            self.cache,
            version,
            self.looking_back.chronicle.assess_risk,
            self.paths.get_path_classes,
        )

    @cached_property
    def answers(self) -> AnswerBuilder:
        """What people ask for, as messages."""
        back = self.looking_back
        risks = RiskLister(
            self.pulls,
            self.reader,
            self.entries,
            self._settings.prdigest_concurrency,
            self.paths.get_path_classes,
            back.chronicle.read_merges_or_none,
            back.scoring.is_reduced,
        )
        return AnswerBuilder(
            self.entries, risks, self.scheduling.composer.days, self.name_of, self.today, back.scoring.score_lists
        )

    @cached_property
    def replies(self) -> Replies:
        """Answers each request once."""
        whispers, remember = SlackEphemeralMessenger(self.slack), self.talking.remember
        return Replies(self.messenger, whispers, self.answered, self._now, remember, self._promises)

    @cached_property
    def lost_jobs(self) -> LostJobs:
        """Tells of jobs that will not be done."""
        aside = RedisAside(self.store, self.keys)
        return LostJobs(self.replies, self.talking.conversations, aside, self.scheduling.watchdog)

    @cached_property
    def details(self) -> DetailsModal:
        """Windows about one pull request."""
        return DetailsModal(self.entries, SlackViews(self.slack), self.replies)

    @cached_property
    def repositories(self) -> Repositories:
        """What the bot may speak of. Raises NotSetUp where that is nothing."""
        known = known_repositories(self._settings)
        if not known:
            raise ConfigurationError("Set PRDIGEST_REPO to the repository that the bot speaks of, as owner/name.")
        return Repositories(known[0], known[1:], self._settings.github_web)

    @cached_property
    def paths(self) -> PathSettings:
        """Which paths of which repository are what. Raises NotSetUp where the file that says so can't be used."""
        return path_settings(self._settings)

    @cached_property
    def admission(self) -> AccessControl:
        """Who may ask."""
        settings = self._settings
        own = self.messenger.fetch_team()
        allowed = AccessRules(
            frozenset({own}) | settings.prdigest_allowed_workspaces,
            settings.prdigest_allowed_channels,
            settings.prdigest_allowed_users,
        )
        return AccessControl(allowed, RedisLimiter(self.hurried_store, settings.prdigest_user_limit, self.keys))

    def prepare(self) -> None:
        """Build what jobs need before the first one waits for it.

        Raises:
            NotSetUp, SlackRefused, SlackUnavailable, StoreUnavailable: a setting is missing or wrong.
        """
        self.outside.open_sources()
        _ = (
            self.answers,
            self.details,
            self.scheduling.delivery,
            self.talking.conversations,
            self.messenger.fetch_team(),
        )

    def name_of(self, repository: Repository) -> str:
        """What headings call a repository."""
        settings = self._settings
        if settings.prdigest_name and repository == settings.prdigest_repo:
            return settings.prdigest_name
        return repository.name

    def today(self, zone: ZoneInfo | None = None) -> LocalDay:
        """The day that is not over, in a zone, or in that of the settings."""
        return get_today(self._now(), zone or self._settings.prdigest_timezone)

    @cached_property
    def cache(self) -> Cache:
        """The cache, for what is remembered for a while."""
        return RedisCache(self._store, self.keys)

    @cached_property
    def keys(self) -> Keyspace:
        """How this deployment's keys are made: whatever uses the store gets it."""
        return Keyspace(self._settings.prdigest_store_prefix)

    @cached_property
    def ownership(self) -> StoreOwnership:
        """Claims the store, before anything in it is read or changed."""
        require_durable(self._store)
        owner = RedisOwner(self._store, self.keys)
        return StoreOwnership(owner, self.messenger.fetch_team, self._settings.prdigest_store_prefix)

    @cached_property
    def hurried_store(self) -> Redis:
        """The same for those who must answer within Slack's three seconds, if only that they can't."""
        require_durable(self._store)
        migrate(self._store, self.keys)
        return connected(self._settings, HURRIED)

    @cached_property
    def hurried_cache(self) -> Cache:
        """The cache for the same."""
        return RedisCache(self.hurried_store, self.keys)

    @cached_property
    def store(self) -> Redis:
        """The store itself, for the job queue. It must not drop anything by itself."""
        require_durable(self._store)
        migrate(self._store, self.keys)
        return self._store

    @property
    def moving(self) -> Moving:
        """Takes what is kept for good to another store."""
        require_durable(self._store)
        return Moving(self._store, self.keys)

    @property
    def has_model(self) -> bool:
        """Whether summaries will be a model's."""
        return self.outside.has_model

    def close(self) -> None:
        """Let go of the store and of what is outside; the embedded store ends by itself when nobody uses it."""
        for name in ("hurried_store", "_store"):
            if opened := self.__dict__.get(name):
                opened.close()
        self.outside.close()

    @property
    def fleeting_store(self) -> Redis:
        """The store for what expires by itself, which may drop it earlier."""
        return self._store

    @cached_property
    def _store(self) -> Redis:
        return connected(self._settings, Patience())

    @cached_property
    def reader(self) -> Reader:
        """Reads pull requests."""
        return Reader(self.pulls, self._summariser.summarise, self.paths.get_path_classes)

    @cached_property
    def _summariser(self) -> Summariser:
        settings = self._settings
        model, budget = settings.prdigest_summary_model, settings.prdigest_diff_tokens
        must_prove = not self.outside.stands_in
        return Summariser(self._asker, model, budget, self.paths.get_path_classes, must_prove=must_prove)

    @cached_property
    def answered(self) -> RecordStore[AnsweredRequest]:
        """How far each request was answered."""
        return RedisRecordStore(self.store, ANSWERED_REQUEST, ANSWER.lifetime, self.keys)

    @cached_property
    def _asker(self) -> Asker | None:
        model, meter = self.outside.model, self.costs.meter
        if model is None:
            return None
        metered = MeteredModel(model, meter) if meter else model
        return Asker(metered, self.cache, self._sleep, self.provider.prices)
