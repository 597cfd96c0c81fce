"""The services around the subscriptions of people: commands, the form, App Home."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import partial
from zoneinfo import ZoneInfo

from bot.adapters.redis import RedisProbe
from bot.adapters.slack import SlackHomePublisher, SlackViews, SlackWorkspaceDirectory
from bot.container.access import build_access_control
from bot.container.costs import CostServices
from bot.container.delivery import DeliveryServices
from bot.container.digests.services import DigestServices
from bot.container.foundation import Foundation
from bot.container.records import build_preview_switcher, build_subscription_store
from bot.container.schedule import ScheduleServices
from bot.domain.conversations.commands import AllowedRepositories
from bot.services.history.outcome_watcher import OutcomeWatcher
from bot.services.operations.health import HealthReader
from bot.services.slack.answers.replies import ReplySender
from bot.services.slack.home_publisher import AppHome
from bot.services.slack.modals.subscription_form import FormOpener
from bot.services.subscriptions.delivery import DigestDelivery
from bot.services.subscriptions.editor import SubscriptionEditor
from bot.services.subscriptions.permissions import SubscriptionPermissions
from bot.services.subscriptions.subscription_commands import SubscriptionCommands


@dataclass(frozen=True, slots=True)
class SubscriptionServices:
    """What jobs use around regular digests."""

    permissions: SubscriptionPermissions
    subscription_editor: SubscriptionEditor
    subscription_commands: SubscriptionCommands
    forms: FormOpener
    home: AppHome
    delivery: DigestDelivery
    outcome_watcher: OutcomeWatcher


def build_subscription_services(
    base: Foundation,
    repositories: AllowedRepositories,
    schedule: ScheduleServices,
    deliveries: DeliveryServices,
    digests: DigestServices,
    replies: ReplySender,
) -> SubscriptionServices:
    """Build them.

    Raises:
        ConfigurationError, SlackCallRefused, SlackUnavailable, StoreUnavailable: a setting is wrong, or a
            service is away.
    """
    permissions = SubscriptionPermissions(SlackWorkspaceDirectory(base.slack), base.messenger.fetch_team)
    editor = _build_editor(base, schedule, permissions)
    return SubscriptionServices(
        permissions=permissions,
        subscription_editor=editor,
        subscription_commands=SubscriptionCommands(
            editor,
            deliveries.preview_composer,
            repositories,
            base.cache,
            replies,
            base.now,
            digests.profiles,
            partial(build_preview_switcher(base).switch, is_on=True),
        ),
        forms=FormOpener(
            editor, repositories, SlackViews(base.slack), replies, _get_default_timing(base), digests.profiles
        ),
        home=_build_home(base, schedule, editor, digests.costs),
        delivery=deliveries.delivery,
        outcome_watcher=deliveries.outcome_watcher,
    )


def _build_editor(
    base: Foundation, schedule: ScheduleServices, permissions: SubscriptionPermissions
) -> SubscriptionEditor:
    return SubscriptionEditor(
        schedule.subscription_repository,
        build_subscription_store(base),
        schedule.due_queue,
        SlackWorkspaceDirectory(base.slack),
        permissions,
        build_access_control(base),
        _get_default_timing(base),
        base.now,
    )


def _build_home(
    base: Foundation, schedule: ScheduleServices, editor: SubscriptionEditor, costs: CostServices
) -> AppHome:
    health = HealthReader(
        schedule.run_log,
        base.cache,
        costs.budget,
        RedisProbe(base.store, base.keyspace).read_status,
        has_model=base.sources.has_model,
        stands_in=base.sources.stands_in,
    )
    publisher, web = SlackHomePublisher(base.slack), base.settings.github_web_url
    return AppHome(editor, schedule.digest_records, health, publisher, base.now, web)


def _get_default_timing(base: Foundation) -> tuple[dt.time, ZoneInfo]:
    """Return when a digest is posted for subscribers who set no time."""
    return base.settings.prdigest_post_at, base.settings.prdigest_timezone
