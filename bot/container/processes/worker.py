"""The services of a worker: everything that jobs use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bot.container.access import build_allowed_repositories
from bot.container.connections.from_settings import get_display_name
from bot.container.costs import build_usage_reader
from bot.container.delivery import DeliveryServices, build_delivery_services
from bot.container.digests.services import DigestServices, build_digest_services
from bot.container.foundation import Foundation
from bot.container.previews import PreviewServices, build_preview_services
from bot.container.questions import (
    QuestionServices,
    build_question_services,
    build_thread_memories,
    remember_answer,
)
from bot.container.records import build_answered_requests, build_earlier_answers
from bot.container.schedule import ScheduleServices, build_schedule_services
from bot.container.subscriptions import SubscriptionServices, build_subscription_services
from bot.container.touches.services import TouchServices, build_touch_services

from bot.adapters.redis import RedisLostJobStore
from bot.adapters.slack import SlackEphemeralMessenger, SlackViews, SlackWorkspaceDirectory
from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.time.day import TodayProvider
from bot.services.costs.usage_reader import UsageReader
from bot.services.digest.composer import DigestComposer
from bot.services.operations.lost_jobs import LostJobReporter
from bot.services.profile.known_profiles import KnownProfiles
from bot.services.questions.thread_memory import ThreadMemories
from bot.services.risk.risk_lister import RiskLister, RiskLookups
from bot.services.slack.answers.answer_builder import AnswerBuilder
from bot.services.slack.answers.earlier_answer import EarlierAnswers
from bot.services.slack.answers.replies import ReplySender
from bot.services.slack.destinations import AnswerDestinations
from bot.services.slack.modals.details_modal import DetailsModal
from bot.services.slack.modals.reference_form import ReferenceFormOpener
from bot.services.slack.modals.task_modal import TaskModal


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """What the functions of jobs take; a :class:`bot.services.jobs.command_jobs.CommandServices`, too."""

    repositories: AllowedRepositories
    get_today: TodayProvider
    profiles: KnownProfiles
    digests: DigestServices
    schedule: ScheduleServices
    deliveries: DeliveryServices
    answers: AnswerBuilder
    replies: ReplySender
    destinations: AnswerDestinations
    details: DetailsModal
    reference_form: ReferenceFormOpener
    subscriptions: SubscriptionServices
    questions: QuestionServices
    lost_jobs: LostJobReporter
    touches: TouchServices
    task_modal: TaskModal
    usage: UsageReader
    previews: PreviewServices


def build_worker_services(base: Foundation) -> WorkerServices:
    """Build all services of a worker, in the order in which one needs another.

    Raises:
        ConfigurationError, SlackCallRefused, SlackUnavailable, StoreUnavailable: a setting is wrong, or a
            service is away.
    """
    plain_digests = build_digest_services(base)
    touches = build_touch_services(base, plain_digests)
    digests = touches.add_to_digests(plain_digests)
    schedule = build_schedule_services(base)
    deliveries = build_delivery_services(base, digests, schedule, touches.decisions)
    repositories = build_allowed_repositories(base.settings)
    memories = build_thread_memories(base)
    replies = build_replies(base, memories)
    questions = build_question_services(base, repositories, digests, memories, replies)
    return WorkerServices(
        repositories=repositories,
        get_today=base.get_today,
        profiles=digests.profiles,
        digests=digests,
        schedule=schedule,
        deliveries=deliveries,
        answers=build_answers(base, digests, deliveries.composer),
        replies=replies,
        destinations=AnswerDestinations(SlackWorkspaceDirectory(base.slack)),
        details=DetailsModal(digests.entries, SlackViews(base.slack), replies, base.settings.prdigest_timezone),
        reference_form=ReferenceFormOpener(SlackViews(base.slack), replies),
        subscriptions=build_subscription_services(base, repositories, schedule, deliveries, digests, replies),
        questions=questions,
        lost_jobs=LostJobReporter(
            replies,
            questions.conversations,
            RedisLostJobStore(base.store, base.keyspace),
            schedule.incident_reporter,
        ),
        touches=touches,
        task_modal=TaskModal(touches.tasks, SlackViews(base.slack), replies, repositories),
        usage=build_usage_reader(base, digests.costs),
        previews=build_preview_services(base, repositories, digests, touches),
    )


def build_answers(base: Foundation, digests: DigestServices, composer: DigestComposer) -> AnswerBuilder:
    """Build the builder of summaries, lists of risks and overviews, as messages."""
    history = digests.history
    risks = RiskLister(
        digests.pulls,
        digests.reader,
        digests.entries,
        base.settings.prdigest_concurrency,
        digests.paths.get_path_classes,
        RiskLookups(
            history.timeline.read_merges_or_none,
            history.track_record.is_reduced,
            digests.entries.get_review,
            digests.read_touches,
        ),
    )
    return AnswerBuilder(
        digests.entries,
        risks,
        composer.build_days,
        partial(get_display_name, base.settings),
        base.get_today,
        history.track_record.score_lists,
    )


def build_replies(base: Foundation, memories: ThreadMemories) -> ReplySender:
    """Build what answers each request once. Raises ConfigurationError without a token, and StoreUnavailable."""
    return ReplySender(
        base.messenger,
        SlackEphemeralMessenger(base.slack),
        build_answered_requests(base),
        base.now,
        partial(remember_answer, memories),
        base.response_times,
        EarlierAnswers(base.messenger, build_earlier_answers(base), base.now),
    )
