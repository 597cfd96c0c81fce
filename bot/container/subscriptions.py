"""What posts by itself: subscriptions, the schedule, the delivery of digests and the watchdog."""

from __future__ import annotations

import datetime as dt
from datetime import timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from bot.adapters.caching import DayListCache
from bot.adapters.redis import (
    RedisAgenda,
    RedisJournal,
    RedisPostedDigestIndex,
    RedisProbe,
    RedisRecordStore,
    RedisSubscriptions,
)
from bot.adapters.slack import SlackHomePublisher, SlackViews, SlackWorkspaceDirectory
from bot.container.from_settings import fixed_subscription
from bot.container.part import Part
from bot.domain.keyspace.keys import REPORT
from bot.domain.subscriptions.models import DigestSpec
from bot.ports import Agenda, Journal, Subscriptions
from bot.services.digest.composer import DigestComposer
from bot.services.digest.posted_digest import POSTED_DIGEST
from bot.services.digest.poster import DigestPoster
from bot.services.digest.records import DigestRecords
from bot.services.history.outcome_watcher import Aftermath
from bot.services.operations.health import HealthReader
from bot.services.slack.forms import FormOpener
from bot.services.slack.home import Home
from bot.services.subscriptions.delivery import DigestDelivery
from bot.services.subscriptions.editor import Subscribing
from bot.services.subscriptions.incident_report import INCIDENT_REPORT
from bot.services.subscriptions.incidents import Watchdog
from bot.services.subscriptions.permissions import Rights
from bot.services.subscriptions.repository import Directory
from bot.services.subscriptions.scheduler import Schedule
from bot.services.subscriptions.subscription_commands import Regular


class Scheduling(Part):
    """Builds each service when it is first asked for."""

    @cached_property
    def schedule(self) -> Schedule:
        """Decides what is due."""
        return Schedule(
            self.directory,
            self.agenda,
            self.digests,
            self._root.cache,
            self.journal,
            self.watchdog,
            timedelta(hours=self._settings.prdigest_catch_up_hours),
        )

    @cached_property
    def delivery(self) -> DigestDelivery:
        """Posts and mends."""
        return DigestDelivery(
            self.directory,
            self.poster,
            self.composer,
            self.digests,
            self.agenda,
            self.journal,
            self.watchdog,
            self._now,
        )

    @cached_property
    def poster(self) -> DigestPoster:
        """Posts digests to Slack. Needs a store that drops nothing by itself."""
        return DigestPoster(self._root.messenger, self.digests, self._now, self._sleep, self._begun)

    @cached_property
    def aftermath(self) -> Aftermath:
        """Says what became of pull requests where their digests were posted."""
        return Aftermath(
            self._root.looking_back.chronicle_of(DayListCache(self._root.pulls, self._root.cache, self._now)),
            self._root.cache,
            RedisPostedDigestIndex(self._root.store, self._root.keys),
            self.digests,
            self.poster,
            self.agenda,
            self._now,
        )

    def _begun(self, spec: DigestSpec, key: str) -> None:
        self.aftermath.begin(spec, key)

    @cached_property
    def composer(self) -> DigestComposer:
        """Builds what is posted; the list of a day that is over is asked of GitHub once for all channels."""
        pulls = DayListCache(self._root.pulls, self._root.cache, self._now)
        return DigestComposer(self._root.daily_of(pulls), self._root.name_of, self.zone_of)

    def zone_of(self, channel: str) -> ZoneInfo | None:
        """Get the time zone that readers of a channel expect; None where there are several."""
        return self.directory.zone_of(channel, self._settings.prdigest_timezone)

    @cached_property
    def directory(self) -> Directory:
        """All subscriptions."""
        return Directory(self._kept, fixed_subscription(self._settings))

    @cached_property
    def watchdog(self) -> Watchdog:
        """Tells of what goes wrong."""
        root, admin = self._root, self._settings.prdigest_admin_channel or ""
        reports = RedisRecordStore(root.store, INCIDENT_REPORT, REPORT.lifetime, root.keys)
        return Watchdog(self.agenda, root.cache, reports, self._is_posted, root.messenger, admin)

    def _is_posted(self, key: str) -> bool:
        return self.digests.store.load(key).is_posted

    @cached_property
    def agenda(self) -> Agenda:
        """What is to be done next."""
        return RedisAgenda(self._root.store, self._root.keys)

    @cached_property
    def journal(self) -> Journal:
        """What was done lately."""
        return RedisJournal(self._root.store, self._root.keys)

    @cached_property
    def regular(self) -> Regular:
        """What people say of their regular digests."""
        root = self._root
        return Regular(self.subscribing, self.composer, root.repositories, root.cache, root.replies, self._now)

    @cached_property
    def forms(self) -> FormOpener:
        """The form of a subscription."""
        views, replies = SlackViews(self._root.slack), self._root.replies
        return FormOpener(self.subscribing, self._root.repositories, views, replies, self._usual)

    @cached_property
    def home(self) -> Home:
        """App Home."""
        return Home(
            self.subscribing,
            self.digests,
            self._healths,
            SlackHomePublisher(self._root.slack),
            self._now,
        )

    @property
    def _healths(self) -> HealthReader:
        root = self._root
        return HealthReader(
            self.journal,
            root.cache,
            root.costs.budget,
            RedisProbe(root.store, root.keys).read_status,
            has_model=root.has_model,
            stands_in=root.outside.stands_in,
        )

    @cached_property
    def subscribing(self) -> Subscribing:
        """Changes subscriptions."""
        return Subscribing(
            self.directory,
            self._kept,
            self.agenda,
            self._places,
            self.rights,
            self._root.admission,
            self._usual,
            self._now,
        )

    @cached_property
    def rights(self) -> Rights:
        """Who may see and change which subscriptions."""
        return Rights(self._places, self._root.messenger.fetch_team)

    @cached_property
    def _places(self) -> SlackWorkspaceDirectory:
        return SlackWorkspaceDirectory(self._root.slack)

    @cached_property
    def _kept(self) -> Subscriptions:
        return RedisSubscriptions(self._root.store, self._root.keys)

    @property
    def _usual(self) -> tuple[dt.time, ZoneInfo]:
        """When a digest is posted for who does not say when."""
        return self._settings.prdigest_post_at, self._settings.prdigest_timezone

    @cached_property
    def digests(self) -> DigestRecords:
        """What was posted. Needs a store that drops nothing by itself."""
        store = RedisRecordStore(self._root.store, POSTED_DIGEST, keys=self._root.keys)

        def team() -> str:
            # not before it is asked for: whoever only reads records needs no Slack
            return self._root.messenger.fetch_team()

        return DigestRecords(store, team)
