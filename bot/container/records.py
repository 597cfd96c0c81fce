"""The stores of typed records, and of subscriptions."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from bot.adapters.redis import RedisPreviewSwitches, RedisRecordStore, RedisSubscriptionStore
from bot.adapters.slack import SlackWorkspaceDirectory
from bot.container.connections.from_settings import build_fixed_subscription
from bot.container.foundation import Foundation
from bot.domain.keyspace.keys import ANSWER_PROGRESS, EARLIER_ANSWER, INCIDENT_REPORT_RECORD, LINK_PREVIEW
from bot.ports import RecordStore, SubscriptionStore
from bot.ports.slack.link_previews import PreviewSwitches
from bot.services.digest.posted_digest import POSTED_DIGEST_CODEC
from bot.services.digest.records import DigestRecords
from bot.services.previews.link_preview import LINK_PREVIEW_CODEC, LinkPreview
from bot.services.previews.switcher import PreviewSwitcher
from bot.services.slack.answers.answered_request import ANSWERED_REQUEST, AnsweredRequest
from bot.services.slack.answers.earlier_answer import EARLIER_ANSWER_CODEC, EarlierAnswer
from bot.services.subscriptions.incident_report import INCIDENT_REPORT_CODEC, PostedIncidentReport
from bot.services.subscriptions.repository import SubscriptionRepository


def build_digest_records(base: Foundation) -> DigestRecords:
    """Build the records of posted digests. Raises StoreUnavailable."""
    store = RedisRecordStore(base.store, POSTED_DIGEST_CODEC, keys=base.keyspace)

    def fetch_team() -> str:
        # a command that only reads records needs no Slack
        return base.messenger.fetch_team()

    return DigestRecords(store, fetch_team)


def build_answered_requests(base: Foundation) -> RecordStore[AnsweredRequest]:
    """Build the records of how far each request was answered. Raises StoreUnavailable."""
    return RedisRecordStore(base.store, ANSWERED_REQUEST, ANSWER_PROGRESS.lifetime, base.keyspace)


def build_earlier_answers(base: Foundation) -> RecordStore[EarlierAnswer]:
    """Build the records of what channels were answered in the last hour. Raises StoreUnavailable."""
    return RedisRecordStore(base.store, EARLIER_ANSWER_CODEC, EARLIER_ANSWER.lifetime, base.keyspace)


def build_incident_reports(base: Foundation) -> RecordStore[PostedIncidentReport]:
    """Build the records of posted incident reports. Raises StoreUnavailable."""
    return RedisRecordStore(base.store, INCIDENT_REPORT_CODEC, INCIDENT_REPORT_RECORD.lifetime, base.keyspace)


def build_link_previews(base: Foundation) -> RecordStore[LinkPreview]:
    """Build the records of which links had a preview. Raises StoreUnavailable."""
    return RedisRecordStore(base.store, LINK_PREVIEW_CODEC, LINK_PREVIEW.lifetime, base.keyspace)


def build_preview_switches(base: Foundation) -> PreviewSwitches:
    """Build the record of where previews of links are on. Raises StoreUnavailable."""
    return RedisPreviewSwitches(base.store, base.keyspace)


def build_preview_switcher(base: Foundation) -> PreviewSwitcher:
    """Build what turns previews on and off. Raises ConfigurationError without a token, and StoreUnavailable."""
    return PreviewSwitcher(build_preview_switches(base), SlackWorkspaceDirectory(base.slack), base.now)


def build_subscription_store(base: Foundation) -> SubscriptionStore:
    """Build the store of the subscriptions that people made. Raises StoreUnavailable."""
    return RedisSubscriptionStore(base.store, base.keyspace)


def build_subscription_repository(base: Foundation) -> SubscriptionRepository:
    """Build the repository of all subscriptions. Raises StoreUnavailable."""
    return SubscriptionRepository(build_subscription_store(base), build_fixed_subscription(base.settings))


def get_channel_zone(base: Foundation, repository: SubscriptionRepository, channel: str) -> ZoneInfo | None:
    """Return the time zone that readers of a channel expect; None if there are several."""
    return repository.get_time_zone(channel, base.settings.prdigest_timezone)
