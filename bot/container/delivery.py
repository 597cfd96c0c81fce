"""The services that post digests, and amend them later."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bot.adapters.redis import RedisPostedDigestIndex
from bot.adapters.slack import SlackThreads
from bot.container.connections.from_settings import get_display_name
from bot.container.digests.history import build_merge_timeline
from bot.container.digests.services import DigestServices, build_digest_builder, build_preview_builder
from bot.container.foundation import Foundation
from bot.container.records import get_channel_zone
from bot.container.schedule import ScheduleServices
from bot.services.digest.builder import DigestBuilder
from bot.services.digest.composer import DigestComposer
from bot.services.digest.hit_votes import HitVotes, list_decisions_of
from bot.services.digest.poster import DigestPoster
from bot.services.history.outcome_checks import OutcomeCheckPlanner
from bot.services.history.outcome_watcher import OutcomeWatcher
from bot.services.subscriptions.delivery import DeliveryLogs, DigestDelivery
from bot.services.subscriptions.repository import SubscriptionRepository
from bot.services.touches.decisions import TouchDecisions
from bot.services.touches.vote_marks import VoteMarks


@dataclass(frozen=True, slots=True)
class DeliveryServices:
    """The composer of messages, what posts them, and what amends them by the outcomes of pull requests.

    ``preview_composer`` composes what one person looks at: it reviews nothing.
    """

    composer: DigestComposer
    preview_composer: DigestComposer
    poster: DigestPoster
    outcome_watcher: OutcomeWatcher
    delivery: DigestDelivery
    hit_votes: HitVotes
    vote_marks: VoteMarks


def build_delivery_services(
    base: Foundation, digests: DigestServices, schedule: ScheduleServices, decisions: TouchDecisions
) -> DeliveryServices:
    """Build them. Raises ConfigurationError without a token of Slack, and StoreUnavailable."""
    composer = build_composer(base, digests, schedule.subscription_repository)
    index = RedisPostedDigestIndex(base.store, base.keyspace)
    planner = OutcomeCheckPlanner(base.cache, index, schedule.due_queue, base.now)
    poster = DigestPoster(
        base.messenger,
        schedule.digest_records,
        base.now,
        base.sleep,
        planner.plan_checks,
        partial(list_decisions_of, decisions),
    )
    outcome_watcher = OutcomeWatcher(
        build_merge_timeline(base, digests.day_lists.list_merged, digests.paths),
        base.cache,
        index,
        schedule.digest_records,
        poster,
        schedule.due_queue,
        base.now,
    )
    delivery = DigestDelivery(
        schedule.subscription_repository,
        poster,
        composer,
        schedule.digest_records,
        schedule.due_queue,
        DeliveryLogs(schedule.run_log, digests.costs.works),
        schedule.incident_reporter,
        base.now,
    )
    previews = _build_composer(
        base, build_preview_builder(base, digests, digests.day_lists), schedule.subscription_repository
    )
    hit_votes = HitVotes(decisions, digests.profiles, index, schedule.digest_records, outcome_watcher, base.now)
    marks = VoteMarks(base.messenger, SlackThreads(base.messenger), decisions)
    return DeliveryServices(composer, previews, poster, outcome_watcher, delivery, hit_votes, marks)


def build_composer(
    base: Foundation, digests: DigestServices, repository: SubscriptionRepository
) -> DigestComposer:
    """Build the composer; it asks GitHub for the list of a day that is over once for all channels."""
    return _build_composer(base, build_digest_builder(base, digests, digests.day_lists), repository)


def _build_composer(
    base: Foundation, builder: DigestBuilder, repository: SubscriptionRepository
) -> DigestComposer:
    return DigestComposer(
        builder, partial(get_display_name, base.settings), partial(get_channel_zone, base, repository)
    )
