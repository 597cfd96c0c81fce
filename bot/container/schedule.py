"""The services that decide what is due, and report what goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from bot.adapters.metrics import ObservedRunLog
from bot.adapters.redis import RedisDueQueue, RedisRunLog
from bot.container.foundation import Foundation
from bot.container.records import build_digest_records, build_incident_reports, build_subscription_repository
from bot.ports import DueQueue, RunLog
from bot.services.digest.records import DigestRecords
from bot.services.subscriptions.incidents import IncidentReporter
from bot.services.subscriptions.repository import SubscriptionRepository
from bot.services.subscriptions.scheduler import DigestScheduler


@dataclass(frozen=True, slots=True)
class ScheduleServices:
    """The subscriptions, what is due for them, and what was posted. ``run_log`` is the log of recent runs."""

    subscription_repository: SubscriptionRepository
    due_queue: DueQueue
    run_log: RunLog
    digest_records: DigestRecords
    incident_reporter: IncidentReporter


def build_schedule_services(base: Foundation) -> ScheduleServices:
    """Build them. Raises ConfigurationError without a token of Slack, and StoreUnavailable."""
    due_queue, records = RedisDueQueue(base.store, base.keyspace), build_digest_records(base)
    return ScheduleServices(
        subscription_repository=build_subscription_repository(base),
        due_queue=due_queue,
        run_log=ObservedRunLog(RedisRunLog(base.store, base.keyspace), base.instruments),
        digest_records=records,
        incident_reporter=_build_incident_reporter(base, due_queue, records),
    )


def build_scheduler(base: Foundation, schedule: ScheduleServices) -> DigestScheduler:
    """Build what decides at each tick what is due."""
    return DigestScheduler(
        schedule.subscription_repository,
        schedule.due_queue,
        schedule.digest_records,
        base.cache,
        schedule.run_log,
        schedule.incident_reporter,
        timedelta(hours=base.settings.prdigest_catch_up_hours),
    )


def _build_incident_reporter(base: Foundation, due_queue: DueQueue, records: DigestRecords) -> IncidentReporter:
    def is_posted(key: str) -> bool:
        return records.store.load(key).is_posted

    admin = base.settings.prdigest_admin_channel or ""
    return IncidentReporter(due_queue, base.cache, build_incident_reports(base), is_posted, base.messenger, admin)
