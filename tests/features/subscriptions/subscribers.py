"""What the tests of regular digests share: subscriptions over a real store and a Slack on the loopback."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

from redis import Redis

from bot.app import App
from bot.clock import Clock
from bot.dates import LocalDay
from bot.features.digest.posts import DigestRecords, PostedDigest
from bot.features.digest.rules import DigestSpec
from bot.features.subscriptions.rules import (
    Subscription,
    SubscriptionCommand,
    SubscriptionRequest,
    SubscriptionSelector,
    SubscriptionVerb,
    Timing,
)
from bot.features.subscriptions.schedule import deliver_digest
from bot.features.subscriptions.service import answer_command, open_form, subscribe
from bot.features.subscriptions.tables import filter_visible, get_subscription, list_subscriptions
from bot.platform.commands import AllowedRepositories
from bot.platform.jobs import Job
from bot.platform.slack import terminal
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import Post
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.directory import AccessControl, AccessRules, ChannelInfo, SlackWorkspaceDirectory, UserInfo
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger
from bot.platform.slack.replies import ReplySender
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.connection import RedisCache
from bot.platform.store.due_queue import DueQueue, NextDigest
from bot.settings import load_settings
from impact.repository import Repository
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME
from tests.helpers.apps import make_app
from tests.helpers.builders import REPOSITORY
from tests.helpers.doubles import CountingLimiter, slack_request
from tests.helpers.records import MemoryRecords, answer_store, memory_digests, plant
from tests.helpers.subscriptions import StoredSubscriptions

WEB = Repository("Acme", "web.app")
REPOSITORIES = AllowedRepositories(REPOSITORY, (WEB,))
ANGELES, BERLIN, TOKYO = map(ZoneInfo, ("America/Los_Angeles", "Europe/Berlin", "Asia/Tokyo"))
USUAL = Timing(dt.time(9), ANGELES)
FIXED = Subscription("C0FIXED", REPOSITORY, USUAL)
OPEN, PRIVATE, OWN, OTHERS = "C0OPEN", "C0PRIVATE", "D0ADA", "D0BEN"
TEAM = "T0TEAM"
_HOUR = timedelta(hours=1)
_NUMBERS = count()


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
        self.kept, self.agenda = StoredSubscriptions(self.store), DueQueue(self.store)
        self.client = make_slack_client(self.slack.token, self.slack.url)

    def open_app(self, **parts: Any) -> App:
        """The bot, as a process that has just started has it; ``parts`` take the place of its own."""
        fixed, own = self.fixed, {"prdigest_post_at": USUAL.at, "prdigest_timezone": USUAL.zone}
        if fixed:
            own |= {"prdigest_repo": fixed.repository, "prdigest_channel": fixed.channel}
        messenger = SlackMessenger(self.client)
        return make_app(
            self.store,
            now=lambda: self.now,
            settings=load_settings().model_copy(update=own),
            cache=RedisCache(self.store),
            due_queue=self.agenda,
            slack=self.client,
            messenger=messenger,
            directory=SlackWorkspaceDirectory(self.client),
            access_control=AccessControl(self.allowed, CountingLimiter(1_000)),
            repositories=REPOSITORIES,
            digest_records=DigestRecords(self.records, lambda: TEAM),
            replies=ReplySender(
                messenger, SlackEphemeralMessenger(self.client), answer_store(self.store), lambda: self.now
            ),
            **parts,
        )

    def run(
        self, verb: str, text: str = "", channel: str = HOME, user: str = "U0ADA", app: App | None = None
    ) -> Answer:
        """The answer to what somebody types; each time it is another request."""
        asker = ask(channel, user, key=f"command:{next(_NUMBERS)}")
        return answer_command(app or self.open_app(), asker, parse_command(verb, text))

    def list_visible(self, user: str, channel: str | None = None) -> Sequence[Subscription]:
        app = self.open_app()
        return filter_visible(app, user, list_subscriptions(app, channel))

    def open_form(self, asker: SlackRequest, name: str = "") -> None:
        open_form.run(self.open_app(), asker, name)

    def subscribe(
        self, text: str = "", channel: str = HOME, user: str = "U0ADA", target: str = "", replaces: str = ""
    ) -> Subscription:
        wish = SubscriptionRequest.parse(text, REPOSITORIES)
        return subscribe(self.open_app(), ask(channel, user), wish, target, replaces)[0]

    def many(self, count: int, channel: str = HOME, user: str = "U0ADA") -> None:
        for number in range(count):
            wish = SubscriptionRequest.parse(f"label:{number}", REPOSITORIES)
            made = Subscription(channel, REPOSITORY, USUAL, wish.view, by=user, is_open=True)
            self.kept.put(made)
            self.agenda.put(NextDigest(made.id), made.timing.find_next_after(self.now))

    def get_due_time(self, subscription: Subscription) -> datetime | None:
        return self.agenda.get_time(NextDigest(subscription.id))

    def live(self, until: datetime) -> list[tuple[str, str]]:
        """What a clock and a worker post from now on, besides that of the settings: moments and days."""
        posted: list[tuple[str, str]] = []

        class Worker:
            """Posts at once what is put on the queue."""

            def send(_, job: Job[Any], payload: Any) -> None:  # noqa: N805 (the outer one is meant)
                subscription = get_subscription(app, payload["name"]) if job is deliver_digest else None
                if subscription is None or subscription.is_paused:
                    return
                spec = subscription.build_digest_spec(payload["due"])
                if not self.records.load(key_of(spec)).is_posted:
                    plant(self.records, key_of(spec), posted_at=self.now)
                    local = self.now.astimezone(subscription.timing.zone)
                    if payload["name"] != FIXED.id:
                        posted.append((f"{local:%d %H:%M}", str(spec.span)))

        app = self.open_app()
        clock = Clock(app, Worker())
        while self.now < until:
            clock.tick()
            # a minute later what was posted is off the agenda, and nothing happens until the next is due
            first = min((due for _, due in self.agenda.list_due(until)), default=until)
            self.now = min(until, max(first, self.now + _HOUR / 60))
        return posted


def key_of(edition: DigestSpec) -> str:
    return edition.build_key(TEAM)


def ask(channel: str = HOME, user: str = "U0ADA", **fields: Any) -> SlackRequest:
    return replace(slack_request(), channel=channel, user=user, **fields)


def parse_command(verb: str, text: str = "") -> SubscriptionCommand:
    """What somebody types behind a verb."""
    if verb == "subscribe":
        return SubscriptionCommand(SubscriptionVerb.SUBSCRIBE, wish=SubscriptionRequest.parse(text, REPOSITORIES))
    if verb in (SubscriptionVerb.PAUSE, SubscriptionVerb.SNOOZE):
        return SubscriptionCommand.parse_pause(text, REPOSITORIES, LocalDay(NOON.date(), ANGELES))
    return SubscriptionCommand(SubscriptionVerb(verb), SubscriptionSelector.parse(text, REPOSITORIES))


def read(post: Post) -> str:
    return terminal.format_message(post)
