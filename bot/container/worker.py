"""The services of a worker: everything that jobs use."""

from __future__ import annotations

from dataclasses import dataclass

from bot.adapters.redis import RedisLostJobStore
from bot.adapters.slack import SlackViews
from bot.container.access import build_allowed_repositories
from bot.container.answers import build_answers, build_replies
from bot.container.delivery import DeliveryServices, build_delivery_services
from bot.container.digests import DigestServices, build_digest_services
from bot.container.foundation import Foundation
from bot.container.questions import QuestionServices, build_question_services, build_thread_memories
from bot.container.schedule import ScheduleServices, build_schedule_services
from bot.container.subscriptions import SubscriptionServices, build_subscription_services
from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.time.day import TodayProvider
from bot.services.operations.lost_jobs import LostJobReporter
from bot.services.slack.answers import AnswerBuilder
from bot.services.slack.details_modal import DetailsModal
from bot.services.slack.replies import ReplySender


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """What the functions of jobs take; a :class:`bot.services.jobs.command_jobs.CommandServices`, too."""

    repositories: AllowedRepositories
    get_today: TodayProvider
    digests: DigestServices
    schedule: ScheduleServices
    deliveries: DeliveryServices
    answers: AnswerBuilder
    replies: ReplySender
    details: DetailsModal
    subscriptions: SubscriptionServices
    questions: QuestionServices
    lost_jobs: LostJobReporter


def build_worker_services(base: Foundation) -> WorkerServices:
    """Build all services of a worker, in the order in which one needs another.

    Raises:
        ConfigurationError, SlackUnavailable, StoreUnavailable: a setting is wrong, or a service is away.
    """
    digests = build_digest_services(base)
    schedule = build_schedule_services(base)
    deliveries = build_delivery_services(base, digests, schedule)
    repositories = build_allowed_repositories(base.settings)
    memories = build_thread_memories(base)
    replies = build_replies(base, memories)
    questions = build_question_services(base, repositories, digests, memories, replies)
    return WorkerServices(
        repositories=repositories,
        get_today=base.get_today,
        digests=digests,
        schedule=schedule,
        deliveries=deliveries,
        answers=build_answers(base, digests, deliveries.composer),
        replies=replies,
        details=DetailsModal(digests.entries, SlackViews(base.slack), replies),
        subscriptions=build_subscription_services(
            base, repositories, schedule, deliveries, digests.costs, replies
        ),
        questions=questions,
        lost_jobs=LostJobReporter(
            replies,
            questions.conversations,
            RedisLostJobStore(base.store, base.keyspace),
            schedule.incident_reporter,
        ),
    )
