"""What posts by itself: subscriptions, the schedule, the delivery of digests and the watchdog."""

from __future__ import annotations

import datetime as dt
from datetime import timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from bot.adapters.caching import CachedDays
from bot.adapters.redis import (
    RedisAgenda,
    RedisIssued,
    RedisJournal,
    RedisPostRecords,
    RedisProbe,
    RedisSubscriptions,
)
from bot.adapters.slack import SlackHomes, SlackPlaces, SlackViews
from bot.container.from_settings import fixed_subscription
from bot.container.part import Part
from bot.domain.keyspace.keys import REPORT
from bot.domain.subscriptions.models import Edition
from bot.ports import Agenda, Journal, PostRecords, Subscriptions
from bot.services.digest.composer import Editions
from bot.services.digest.poster import Publisher
from bot.services.history.outcome_watcher import Aftermath
from bot.services.operations.health import Healths
from bot.services.slack.forms import Forms
from bot.services.slack.home import Home
from bot.services.subscriptions.delivery import Delivery
from bot.services.subscriptions.editor import Subscribing
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
            self._records,
            self.publisher.digests,
            self._root.cache,
            self.journal,
            self.watchdog,
            timedelta(hours=self._settings.prdigest_catch_up_hours),
        )

    @cached_property
    def delivery(self) -> Delivery:
        """Posts and mends."""
        return Delivery(
            self.directory,
            self.publisher,
            self.editions,
            self._records,
            self.agenda,
            self.journal,
            self.watchdog,
            self._now,
        )

    @cached_property
    def publisher(self) -> Publisher:
        """Posts digests to Slack. Needs a store that drops nothing by itself."""
        return Publisher(self._root.messenger, self._records, self._now, self._sleep, self._begun)

    @cached_property
    def aftermath(self) -> Aftermath:
        """Says what became of pull requests where their digests were posted."""
        return Aftermath(
            self._root.looking_back.chronicle_of(CachedDays(self._root.pulls, self._root.cache, self._now)),
            self._root.cache,
            RedisIssued(self._root.store, self._root.keys),
            self._records,
            self.publisher,
            self.agenda,
            self._now,
        )

    def _begun(self, edition: Edition, key: str) -> None:
        self.aftermath.begin(edition, key)

    @cached_property
    def editions(self) -> Editions:
        """Builds what is posted; the list of a day that is over is asked of GitHub once for all channels."""
        pulls = CachedDays(self._root.pulls, self._root.cache, self._now)
        return Editions(self._root.daily_of(pulls), self._root.name_of, self.zone_of)

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
        records = RedisPostRecords(self._root.store, REPORT.lifetime, self._root.keys)
        admin = self._settings.prdigest_admin_channel or ""
        return Watchdog(self.agenda, self._root.cache, records, self._root.messenger, admin)

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
        return Regular(self.subscribing, self.editions, root.repositories, root.cache, root.replies, self._now)

    @cached_property
    def forms(self) -> Forms:
        """The form of a subscription."""
        views, replies = SlackViews(self._root.slack), self._root.replies
        return Forms(self.subscribing, self._root.repositories, views, replies, self._usual)

    @cached_property
    def home(self) -> Home:
        """App Home."""
        return Home(
            self.subscribing,
            self.publisher.digests,
            self._healths,
            SlackHomes(self._root.slack),
            self._now,
        )

    @property
    def _healths(self) -> Healths:
        root = self._root
        return Healths(
            self.journal,
            root.cache,
            root.costs.budget,
            RedisProbe(root.store, root.keys).server,
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
        return Rights(self._places, self._root.messenger.team)

    @cached_property
    def _places(self) -> SlackPlaces:
        return SlackPlaces(self._root.slack)

    @cached_property
    def _kept(self) -> Subscriptions:
        return RedisSubscriptions(self._root.store, self._root.keys)

    @property
    def _usual(self) -> tuple[dt.time, ZoneInfo]:
        """When a digest is posted for who does not say when."""
        return self._settings.prdigest_post_at, self._settings.prdigest_timezone

    @cached_property
    def _records(self) -> PostRecords:
        return RedisPostRecords(self._root.store, keys=self._root.keys)
