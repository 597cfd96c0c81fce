"""The services that run steps of workflows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bot.adapters.redis import RedisRecordStore
from bot.adapters.slack import SlackStepReporter, make_slack_client
from bot.container.delivery import DeliveryServices
from bot.container.digests.services import DigestServices
from bot.container.foundation import Foundation
from bot.container.questions import build_answer_writer
from bot.container.records import build_subscription_repository, get_channel_zone
from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.keyspace.keys import STEP_RUN
from bot.services.steps.runner import StepRunner
from bot.services.steps.step_run import STEP_RUN_CODEC
from bot.services.steps.work import StepWork


@dataclass(frozen=True, slots=True)
class StepServices:
    """What jobs use around steps of workflows."""

    runner: StepRunner
    work: StepWork


def build_step_services(
    base: Foundation, repositories: AllowedRepositories, digests: DigestServices, deliveries: DeliveryServices
) -> StepServices:
    """Build them. Raises ConfigurationError without a token of Slack, and StoreUnavailable."""
    reporter = SlackStepReporter(
        lambda token: make_slack_client(
            token, base.settings.slack_api_url, watch=base.instruments.watch_slack_call
        )
    )
    records = RedisRecordStore(base.store, STEP_RUN_CODEC, STEP_RUN.lifetime, base.keyspace)
    work = StepWork(
        deliveries.delivery,
        build_answer_writer(base, repositories, digests),
        repositories,
        base.get_today,
        partial(get_channel_zone, base, build_subscription_repository(base)),
    )
    return StepServices(StepRunner(reporter, records, base.cache, base.now), work)
