"""What the tests of regular digests share: subscriptions over a real store and a Slack on the loopback."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from redis import Redis

from bot.adapters.redis.due_queue import RedisDueQueue, RedisRunLog, RedisSubscriptionStore
from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.due_items import NextDigest
from bot.domain.subscriptions.models import DigestSpec, Subscription, Timing
from bot.domain.subscriptions.request import SubscriptionRequest, SubscriptionSelector
from bot.features.digest.tables import DigestRecords, PostedDigest
from bot.platform.jobs import JobType
from bot.platform.slack.access import AccessControl, AccessRules
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.directory import ChannelInfo, SlackWorkspaceDirectory, UserInfo
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger
from bot.platform.slack.replies import ReplySender
from bot.platform.store.connection import RedisCache
from bot.ports import Post
from bot.render.blocks import terminal
from bot.services.scheduled_jobs import deliver_digest
from bot.services.subscriptions.editor import SubscriptionEditor
from bot.services.subscriptions.incidents import IncidentReporter
from bot.services.subscriptions.permissions import SubscriptionPermissions
from bot.services.subscriptions.repository import SubscriptionRepository
from bot.services.subscriptions.scheduler import DigestScheduler
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.builders import REPOSITORY
from tests.helpers.records import MemoryRecords, answer_store, memory_digests, memory_reports, plant
from tests.services.digest.posting import HOME, MemoryMessenger
from tests.services.doubles import CountingLimiter, slack_request

WEB = Repository("Acme", "web.app")
REPOSITORIES = AllowedRepositories(REPOSITORY, (WEB,))
ANGELES, BERLIN, TOKYO = map(ZoneInfo, ("America/Los_Angeles", "Europe/Berlin", "Asia/Tokyo"))
USUAL = (dt.time(9), ANGELES)
FIXED = Subscription("C0FIXED", REPOSITORY, Timing(*USUAL))
OPEN, PRIVATE, OWN, OTHERS = "C0OPEN", "C0PRIVATE", "D0ADA", "D0BEN"
TEAM = "T0TEAM"
_HOUR = timedelta(hours=1)


def at(day: int, hour: int, minute: int = 0, zone: ZoneInfo = ANGELES, month: int = 3) -> datetime:
    """A moment of 2026; 2 March is a Monday, 8 March the day on which American clocks change."""
    return datetime(2026, month, day, hour, minute, tzinfo=zone).astimezone(UTC)


# a Monday
NOON = at(2, 12)
EVERYBODY = AccessRules(frozenset({TEAM}))


class Everywhere(SlackWorkspaceDirectory):
    """A directory where every channel is open."""

    def __init__(self) -> None:
        pass

    def fetch_channel(self, channel: str) -> ChannelInfo:
        return ChannelInfo(is_member=True, is_archived=False, is_open=True)

    def open_direct_messages(self, user: str) -> str:
        return f"D{user[1:]}"

    def fetch_team(self, user: str) -> str:
        return TEAM

    def fetch_user(self, user: str) -> UserInfo:
        return UserInfo(TEAM)

    def is_channel_member(self, channel: str, user: str) -> bool:
        return True

    def list_channels(self, user: str) -> frozenset[str]:
        raise AssertionError("every channel is open")

    def fetch_time_zone(self, user: str) -> ZoneInfo:
        raise AssertionError(f"nobody follows {user}")


@dataclass
class Team:
    """A workspace with an open and a private channel, and what people subscribe to there."""

    slack: SlackEmulator
    store: Redis
    now: datetime = NOON
    allowed: AccessRules = EVERYBODY
    fixed: Subscription | None = FIXED
    records: MemoryRecords[PostedDigest] = field(default_factory=memory_digests)

    def __post_init__(self) -> None:
        self.slack.add_channel(FIXED.channel, "fixed")
        self.slack.add_channel(OPEN, "open")
        self.slack.add_channel(PRIVATE, "secret", private=True, people=("U0ADA",))
        for user in ("U0ADA", "U0BEN"):
            self.slack.set_person(user)
        self.kept, self.agenda = RedisSubscriptionStore(self.store), RedisDueQueue(self.store)
        self.journal, self.cache = RedisRunLog(self.store), RedisCache(self.store)
        self.directory = SubscriptionRepository(self.kept, self.fixed)
        self.digests = DigestRecords(self.records, lambda: TEAM)

    @property
    def subscribing(self) -> SubscriptionEditor:
        places = SlackWorkspaceDirectory(make_slack_client(self.slack.token, self.slack.url))
        admission = AccessControl(self.allowed, CountingLimiter(1_000))
        rights = SubscriptionPermissions(places, lambda: TEAM)
        return SubscriptionEditor(
            self.directory, self.kept, self.agenda, places, rights, admission, USUAL, lambda: self.now
        )

    @property
    def replies(self) -> ReplySender:
        client = make_slack_client(self.slack.token, self.slack.url)
        return ReplySender(
            SlackMessenger(client), SlackEphemeralMessenger(client), answer_store(self.store), lambda: self.now
        )

    def subscribe(
        self, text: str = "", channel: str = HOME, user: str = "U0ADA", target: str = "", replaces: str = ""
    ) -> Subscription:
        """As somebody types it in ``channel``, or in a form for ``target``."""
        asked = ask(channel, user)
        return self.subscribing.subscribe(
            asked, SubscriptionRequest.parse(text, REPOSITORIES), target, replaces
        ).current

    def many(self, count: int, channel: str = HOME, user: str = "U0ADA") -> None:
        """As if that many had been made."""
        for number in range(count):
            wish = SubscriptionRequest.parse(f"label:{number}", REPOSITORIES)
            made = Subscription(channel, REPOSITORY, Timing(*USUAL), wish.view, by=user, is_open=True)
            self.kept.put(made)
            self.agenda.put(NextDigest(made.id), made.timing.find_next_after(self.now))

    def get_due_time(self, subscription: Subscription) -> datetime | None:
        return self.agenda.get_time(NextDigest(subscription.id))

    def live(self, until: datetime) -> list[tuple[str, str]]:
        """What a clock and a worker post from now on, besides that of the settings: moments and days."""
        posted: list[tuple[str, str]] = []

        class Worker:
            """Posts at once what is put on the queue."""

            def send(_, job: JobType[Any], payload: Any) -> None:  # noqa: N805 (the outer one is meant)
                if job is not deliver_digest:
                    return
                subscription = self.directory.get(payload["name"])
                if subscription is None or subscription.is_paused:
                    return
                spec = subscription.build_digest_spec(payload["due"])
                if not self.records.load(key_of(spec)).is_posted:
                    plant(self.records, key_of(spec), posted_at=self.now)
                    local = self.now.astimezone(subscription.timing.zone)
                    if payload["name"] != FIXED.id:
                        posted.append((f"{local:%d %H:%M}", str(spec.span)))

        watchdog = IncidentReporter(
            self.agenda, self.cache, memory_reports(), lambda _: False, MemoryMessenger(), "C0ADMIN"
        )
        schedule = DigestScheduler(
            self.directory, self.agenda, self.digests, self.cache, self.journal, watchdog, 24 * _HOUR
        )
        while self.now < until:
            schedule.tick(self.now, Worker())
            # a minute later what was posted is off the agenda, and nothing happens until the next is due
            first = min((due for _, due in self.agenda.list_due(until)), default=until)
            self.now = min(until, max(first, self.now + _HOUR / 60))
        return posted


def key_of(edition: DigestSpec) -> str:
    return edition.build_key(TEAM)


def ask(channel: str = HOME, user: str = "U0ADA", **fields: Any) -> SlackRequest:
    return replace(slack_request(), channel=channel, user=user, **fields)


def which(text: str = "") -> SubscriptionSelector:
    return SubscriptionSelector.parse(text, REPOSITORIES)


def read(post: Post) -> str:
    """As a person reads it."""
    return terminal.format_message(post)
