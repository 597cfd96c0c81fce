"""What the tests of scheduled digests share: a clock moved by hand, and all that the schedule is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from typing import Any

from localslack.state.workspace import Json
from redis import Redis

from bot.dates import get_today
from bot.features.digest.posts import DigestRecords, PostedDigest
from bot.features.digest.rules import DigestSpec
from bot.features.digest.view import RenderedDigest
from bot.features.subscriptions.incidents import Incident, IncidentKind, notify_people, report_incident
from bot.features.subscriptions.rules import Run, Subscription, Timing
from bot.features.subscriptions.schedule import deliver_digest, enqueue_due, plan_digests, repair_digest
from bot.platform.costs import Budget
from bot.platform.slack.messenger import SlackMessenger
from bot.platform.store.connection import RedisCache
from bot.platform.store.due_queue import DueItem, DueQueue, NextDigest
from bot.platform.store.spending import SpendingStore
from bot.platform.store.tables import Store
from bot.settings import load_settings
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME, SPEC, Fragile, Fuse, make_rendering, messenger_of
from tests.helpers.apps import make_app
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.doubles import Outbox, SentDelivery, Sleeps
from tests.helpers.records import digest_store
from tests.helpers.subscriptions import RunLog, StoredSubscriptions

TIMING = Timing(time(9), DAY.zone)
DUE = TIMING.get_due_time(DAY.date + timedelta(days=1))
DAILY = Subscription(HOME, REPOSITORY, TIMING, by="U0ADA")
ADMIN = "C0ADMIN"
MINUTE = timedelta(minutes=1)
KEY = SPEC.build_key("T0TEAM")


@dataclass
class Wall:
    """A clock on the wall: it shows what it was set to."""

    now: datetime = DUE

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()

    def passes(self, pause: timedelta = MINUTE) -> datetime:
        self.now += pause
        return self.now


class Kitchen:
    """Builds what is on its list, the last one again and again; what is an error is raised."""

    def __init__(self, *made: RenderedDigest | BaseException) -> None:
        self.made = list(made) or [make_rendering()]
        self.built: list[tuple[DigestSpec, tuple[str, ...]]] = []

    def compose_messages(self, edition: DigestSpec, notes: Any = (), reader: str = "") -> RenderedDigest:
        self.built.append((edition, tuple(notes)))
        next_one = self.made[0] if len(self.made) == 1 else self.made.pop(0)
        if isinstance(next_one, BaseException):
            raise next_one
        return next_one


def with_gaps(made: RenderedDigest, *gaps: str, merged: int = 3) -> RenderedDigest:
    return replace(made, gaps=gaps, merged=merged)


def full(lead: str = "Engine", **fields: Any) -> RenderedDigest:
    """A digest of three merges without a gap."""
    return with_gaps(make_rendering(lead, **fields))


@dataclass
class Desk:
    """All that the schedule is made of. A ``fuse`` stands in front of each port but the directory."""

    slack: SlackEmulator
    store: Redis
    wall: Wall = field(default_factory=Wall)
    kitchen: Kitchen = field(default_factory=Kitchen)
    admin: str = ""
    fuse: Fuse | None = None
    messenger_as: Callable[[SlackMessenger], Any] = lambda messenger: messenger

    def __post_init__(self) -> None:
        self.subscriptions = StoredSubscriptions(self.store)
        self.records: Any = self._fragile(digest_store(self.store))
        self.messenger: Any = self._fragile(self.messenger_as(messenger_of(self.slack)))
        self.agenda: Any = self._fragile(DueQueue(self.store))
        digests = DigestRecords(self.records, self.messenger.fetch_team)
        self.app = make_app(
            self.store,
            now=self.wall,
            settings=load_settings().model_copy(update={"prdigest_admin_channel": self.admin or None}),
            due_queue=self.agenda,
            tables=self._fragile(Store(self.store)),
            cache=self._fragile(RedisCache(self.store)),
            messenger=self.messenger,
            digest_records=digests,
            sleep=Sleeps(),
            compose_digest=self.kitchen.compose_messages,
            budget=Budget(SpendingStore(self.store), lambda: get_today(self.wall(), DAY.zone), 10.0, 1.0),
        )
        self.is_planned = False

    def _fragile(self, port: object) -> Any:
        return port if self.fuse is None else Fragile(port, self.fuse)

    # what happens

    def subscribe(self, subscription: Subscription = DAILY, due: datetime = DUE) -> None:
        self.subscriptions.put(subscription)
        DueQueue(self.store).put(NextDigest(subscription.id), due)

    def deliver(self, name: str = DAILY.id, due: datetime = DUE) -> None:
        deliver_digest.run(self.app, name, due)

    def report(self, incident: Incident) -> None:
        report_incident(self.app, incident)

    def notify(self, at: datetime) -> None:
        self.wall.now = at
        notify_people(self.app)

    def tick(self, pause: timedelta = MINUTE) -> tuple[list[SentDelivery], list[Any]]:
        """Time passes, and the clock looks; what it puts on the queue: digests and repairs."""
        jobs = Outbox()
        self.wall.passes(pause)
        if not self.is_planned:
            plan_digests(self.app)
            self.is_planned = True
        enqueue_due(self.app, jobs)
        return jobs.deliveries, jobs.of(repair_digest)

    def turn(self, pause: timedelta = MINUTE) -> tuple[int, int]:
        """The same, and a worker does what is on the queues; how many digests and repairs that was."""
        digests, mends = self.tick(pause)
        for each in digests:
            self.deliver(each.name, each.due)
        for repair in mends:
            repair_digest.run(self.app, repair.key)
        return len(digests), len(mends)

    # what came of it

    @property
    def runs(self) -> list[Run]:
        """The journal, oldest first."""
        return list(reversed(RunLog(self.store).list_recent(100)))

    @property
    def record(self) -> PostedDigest:
        return digest_store(self.store).load(KEY)

    def get_due_time(self, item: DueItem[Any]) -> datetime | None:
        return DueQueue(self.store).get_time(item)


def trouble(number: int = 0, **fields: Any) -> Incident:
    """A digest that is not there yet; each number is of another channel."""
    channel = f"C{number:04}"
    made = Incident(
        key=f"digest:T0TEAM:{channel}:octo/engine:2026-02-28",
        kind=IncidentKind.MISSING,
        title=f"octo/engine, part {number}",
        reason="GitHub is away: try again in a few minutes.",
        at=DUE,
        retry=DUE + 5 * MINUTE,
        channel=channel,
    )
    return replace(made, **fields)


def reports(slack: SlackEmulator, channel: str) -> list[Json]:
    channel_messages = slack.list_messages(channel) if channel in slack.workspace.channels else []
    return [message for message in channel_messages if key_of(message).startswith("report:")]


def key_of(message: Json) -> str:
    return str(((message.get("metadata") or {}).get("event_payload") or {}).get("key", ""))


def list_message_lines(message: Json) -> list[str]:
    """The lines of a message of the watchdog, its title first."""
    title, *lists = message["blocks"][0]["elements"]
    rows = [title, *(row for bullet_list in lists for row in bullet_list["elements"])]
    return ["".join(_read_element(element) for element in row["elements"]) for row in rows]


def _read_element(element: Json) -> str:
    places = {"channel": "channel_id", "date": "fallback"}
    return str(element[places.get(element["type"], "text")])
