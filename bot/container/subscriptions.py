"""What posts by itself: subscriptions, the schedule, the delivery of digests and the watchdog."""

from __future__ import annotations

import datetime as dt
from datetime import timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from bot.adapters.caching import DayListCache
from bot.adapters.redis import (
    RedisDueQueue,
    RedisPostedDigestIndex,
    RedisProbe,
    RedisRecordStore,
    RedisRunLog,
    RedisSubscriptionRepository,
)
from bot.adapters.slack import SlackHomePublisher, SlackViews, SlackWorkspaceDirectory
from bot.container.from_settings import build_fixed_subscription
from bot.container.part import WiringPart
from bot.domain.keyspace.keys import INCIDENT_REPORT_RECORD
from bot.domain.subscriptions.models import DigestSpec
from bot.ports import DueQueue, RunLog, SubscriptionStore
from bot.services.digest.composer import DigestComposer
from bot.services.digest.posted_digest import POSTED_DIGEST_CODEC
from bot.services.digest.poster import DigestPoster
from bot.services.digest.records import DigestRecords
from bot.services.history.outcome_watcher import OutcomeWatcher
from bot.services.operations.health import HealthReader
from bot.services.slack.home_publisher import AppHome
from bot.services.slack.subscription_form import FormOpener
from bot.services.subscriptions.delivery import DigestDelivery
from bot.services.subscriptions.editor import SubscriptionEditor
from bot.services.subscriptions.incident_report import INCIDENT_REPORT_CODEC
from bot.services.subscriptions.incidents import IncidentReporter
from bot.services.subscriptions.permissions import SubscriptionPermissions
from bot.services.subscriptions.repository import SubscriptionRepository
from bot.services.subscriptions.scheduler import DigestScheduler
from bot.services.subscriptions.subscription_commands import SubscriptionCommands


class SubscriptionWiring(WiringPart):
    """Builds each service when it is first asked for."""

    @cached_property
    def scheduler(self) -> DigestScheduler:
        """Decides what is due."""
        return DigestScheduler(
            self.subscription_repository,
            self.due_queue,
            self.digest_records,
            self._root.cache,
            self.journal,
            self.incident_reporter,
            timedelta(hours=self._settings.prdigest_catch_up_hours),
        )

    @cached_property
    def delivery(self) -> DigestDelivery:
        """Posts and mends."""
        return DigestDelivery(
            self.subscription_repository,
            self.poster,
            self.composer,
            self.digest_records,
            self.due_queue,
            self.journal,
            self.incident_reporter,
            self._now,
        )

    @cached_property
    def poster(self) -> DigestPoster:
        """Posts digests to Slack. Needs a store that drops nothing by itself."""
        return DigestPoster(
            self._root.messenger, self.digest_records, self._now, self._sleep, self._watch_outcomes
        )

    @cached_property
    def outcome_watcher(self) -> OutcomeWatcher:
        """Says what became of pull requests where their digests were posted."""
        return OutcomeWatcher(
            self._root.history.create_merge_timeline(DayListCache(self._root.pulls, self._root.cache, self._now)),
            self._root.cache,
            RedisPostedDigestIndex(self._root.store, self._root.keyspace),
            self.digest_records,
            self.poster,
            self.due_queue,
            self._now,
        )

    def _watch_outcomes(self, spec: DigestSpec, key: str) -> None:
        self.outcome_watcher.watch_digest(spec, key)

    @cached_property
    def composer(self) -> DigestComposer:
        """Builds what is posted; the list of a day that is over is asked of GitHub once for all channels."""
        pulls = DayListCache(self._root.pulls, self._root.cache, self._now)
        return DigestComposer(
            self._root.create_digest_builder(pulls), self._root.get_display_name, self.get_channel_zone
        )

    def get_channel_zone(self, channel: str) -> ZoneInfo | None:
        """Get the time zone that readers of a channel expect; None where there are several."""
        return self.subscription_repository.get_time_zone(channel, self._settings.prdigest_timezone)

    @cached_property
    def subscription_repository(self) -> SubscriptionRepository:
        """All subscriptions."""
        return SubscriptionRepository(self._subscription_store, build_fixed_subscription(self._settings))

    @cached_property
    def incident_reporter(self) -> IncidentReporter:
        """Tells of what goes wrong."""
        root, admin = self._root, self._settings.prdigest_admin_channel or ""
        reports = RedisRecordStore(
            root.store, INCIDENT_REPORT_CODEC, INCIDENT_REPORT_RECORD.lifetime, root.keyspace
        )
        return IncidentReporter(self.due_queue, root.cache, reports, self._is_posted, root.messenger, admin)

    def _is_posted(self, key: str) -> bool:
        return self.digest_records.store.load(key).is_posted

    @cached_property
    def due_queue(self) -> DueQueue:
        """What is to be done next."""
        return RedisDueQueue(self._root.store, self._root.keyspace)

    @cached_property
    def journal(self) -> RunLog:
        """What was done lately."""
        return RedisRunLog(self._root.store, self._root.keyspace)

    @cached_property
    def subscription_commands(self) -> SubscriptionCommands:
        """What people say of their regular digests."""
        root = self._root
        return SubscriptionCommands(
            self.subscription_editor, self.composer, root.repositories, root.cache, root.replies, self._now
        )

    @cached_property
    def forms(self) -> FormOpener:
        """The form of a subscription."""
        views, replies = SlackViews(self._root.slack), self._root.replies
        return FormOpener(self.subscription_editor, self._root.repositories, views, replies, self._default_timing)

    @cached_property
    def home(self) -> AppHome:
        """App Home."""
        return AppHome(
            self.subscription_editor,
            self.digest_records,
            self._health_reader,
            SlackHomePublisher(self._root.slack),
            self._now,
        )

    @property
    def _health_reader(self) -> HealthReader:
        root = self._root
        return HealthReader(
            self.journal,
            root.cache,
            root.costs.budget,
            RedisProbe(root.store, root.keyspace).read_status,
            has_model=root.has_model,
            stands_in=root.sources.stands_in,
        )

    @cached_property
    def subscription_editor(self) -> SubscriptionEditor:
        """Changes subscriptions."""
        return SubscriptionEditor(
            self.subscription_repository,
            self._subscription_store,
            self.due_queue,
            self._workspace_directory,
            self.permissions,
            self._root.access_control,
            self._default_timing,
            self._now,
        )

    @cached_property
    def permissions(self) -> SubscriptionPermissions:
        """Who may see and change which subscriptions."""
        return SubscriptionPermissions(self._workspace_directory, self._root.messenger.fetch_team)

    @cached_property
    def _workspace_directory(self) -> SlackWorkspaceDirectory:
        return SlackWorkspaceDirectory(self._root.slack)

    @cached_property
    def _subscription_store(self) -> SubscriptionStore:
        return RedisSubscriptionRepository(self._root.store, self._root.keyspace)

    @property
    def _default_timing(self) -> tuple[dt.time, ZoneInfo]:
        """When a digest is posted for who does not say when."""
        return self._settings.prdigest_post_at, self._settings.prdigest_timezone

    @cached_property
    def digest_records(self) -> DigestRecords:
        """What was posted. Needs a store that drops nothing by itself."""
        store = RedisRecordStore(self._root.store, POSTED_DIGEST_CODEC, keys=self._root.keyspace)

        def team() -> str:
            # not before it is asked for: whoever only reads records needs no Slack
            return self._root.messenger.fetch_team()

        return DigestRecords(store, team)
