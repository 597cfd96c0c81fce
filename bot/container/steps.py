"""The services that run steps of workflows."""

from __future__ import annotations

from dataclasses import dataclass

from bot.adapters.redis import RedisRecordStore
from bot.adapters.slack import SlackStepReporter, make_slack_client
from bot.app import App
from bot.domain.keyspace.keys import STEP_RUN
from bot.services.steps.runner import StepRunner
from bot.services.steps.step_run import STEP_RUN_CODEC
from bot.services.steps.work import StepWork


@dataclass(frozen=True, slots=True)
class StepServices:
    """What jobs use around steps of workflows."""

    runner: StepRunner
    work: StepWork


def build_step_services(app: App) -> StepServices:
    """Build them. Raises ConfigurationError without a token of Slack, and StoreUnavailable."""
    reporter = SlackStepReporter(
        lambda token: make_slack_client(token, app.settings.slack_api_url, watch=app.instruments.watch_slack_call)
    )
    records = RedisRecordStore(app.store, STEP_RUN_CODEC, STEP_RUN.lifetime, app.keyspace)
    work = StepWork(
        app.delivery,
        app.answer_writer,
        app.repositories,
        app.get_today,
        app.get_channel_zone,
    )
    return StepServices(StepRunner(reporter, records, app.cache, app.now), work)
