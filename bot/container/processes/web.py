"""The services of a web process, which answers Slack within three seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from zoneinfo import ZoneInfo

from bot.adapters.redis import RedisCache, RedisPreviewSwitches, RedisQuestionQueue, RedisThreadStateStore
from bot.container.access import build_access_control, build_allowed_repositories
from bot.container.foundation import Foundation
from bot.container.questions import build_welcome_log
from bot.container.records import build_subscription_repository, get_channel_zone
from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.errors import StoreUnavailable
from bot.domain.keyspace.keys import STORE_READINESS
from bot.ports import Cache, QuestionQueue
from bot.ports.slack.link_previews import PreviewSwitches
from bot.services.questions.thread_muting import ThreadMuting
from bot.services.slack.access_control import AccessControl
from bot.services.slack.welcome_log import WelcomeLog


@dataclass(frozen=True, slots=True)
class WebServices:
    """What the listeners use; all but ``get_channel_zone`` fail early if the store does not answer."""

    access_control: AccessControl
    repositories: AllowedRepositories
    cache: Cache
    question_queue: QuestionQueue
    thread_muting: ThreadMuting
    welcomes: WelcomeLog
    get_channel_zone: Callable[[str], ZoneInfo | None]
    preview_switches: PreviewSwitches

    def has_previews(self, channel: str) -> bool:
        """Return whether links of a conversation get previews. Raises StoreUnavailable."""
        switch = self.preview_switches.get(channel)
        return bool(switch and switch.is_on)

    def is_store_writable(self) -> bool:
        """Return whether the store accepts writes: a process whose store is read-only can't accept a command."""
        try:
            self.cache.put(STORE_READINESS.build_key(), "1", STORE_READINESS.lifetime)
        except StoreUnavailable:
            return False
        return True


def build_web_services(base: Foundation) -> WebServices:
    """Build them.

    Raises:
        ConfigurationError, SlackCallRefused, SlackUnavailable, StoreUnavailable: a setting is wrong, or a
            service is away.
    """
    store, keyspace = base.hurried_store, base.keyspace
    return WebServices(
        access_control=build_access_control(base),
        repositories=build_allowed_repositories(base.settings),
        cache=base.observe_cache(RedisCache(store, keyspace)),
        question_queue=RedisQuestionQueue(store, keyspace),
        thread_muting=ThreadMuting(RedisThreadStateStore(store, keyspace)),
        welcomes=build_welcome_log(base),
        get_channel_zone=partial(get_channel_zone, base, build_subscription_repository(base)),
        preview_switches=RedisPreviewSwitches(store, keyspace),
    )
