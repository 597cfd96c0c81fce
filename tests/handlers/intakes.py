"""An app whose queues can be looked into, for what Slack sends in."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar, cast
from zoneinfo import ZoneInfo

from bot.app import App
from bot.dates import LocalDay
from bot.platform.commands import AllowedRepositories
from bot.platform.jobs import Job
from bot.platform.slack.directory import AccessControl, AccessRules
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.tables import Store, Table
from impact.repository import Repository
from tests.helpers.apps import make_app
from tests.helpers.doubles import CountingLimiter, MemoryCache

ENGINE = Repository("octo", "engine")
TODAY = LocalDay(date(2026, 3, 1), ZoneInfo("UTC"))

P = TypeVar("P")


@dataclass
class SentJobs:
    all: list[tuple[str, Any]]

    def send(self, job: Job[Any], payload: dict[str, Any]) -> None:
        assert job.decode([job.encode(payload)]) == payload
        self.all.append((job.name, payload))


class MemoryTables(Store):
    """The store of features in a dictionary: of a queue, the last value alone."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def get(self, table: Table[P], *parts: object) -> P | None:
        return self.values.get(table.family.build_key(*parts))

    def put(self, table: Table[P], value: P, *parts: object) -> None:
        self.values[table.family.build_key(*parts)] = value

    def enqueue(self, table: Table[P], value: P, score: float, *parts: object, least: float) -> None:
        self.put(table, value, *parts)


@dataclass
class Office:
    """An app without a store, and what was put on its queues."""

    sent: list[tuple[str, Any]] = field(default_factory=list)
    tables: MemoryTables = field(default_factory=MemoryTables)
    today: LocalDay = TODAY

    @property
    def app(self) -> App:
        return make_app(
            cast("Any", None),
            jobs=SentJobs(self.sent),
            access_control=AccessControl(AccessRules(frozenset({"T0TEAM"})), CountingLimiter()),
            repositories=AllowedRepositories(ENGINE),
            cache=MemoryCache(),
            tables=self.tables,
            get_today=lambda zone=None: self.today,
            get_channel_zone=lambda _: TODAY.zone,
        )

    @property
    def queues(self) -> list[str]:
        return [name for name, _ in self.sent]


def make_request(*, thread: str = "", channel: str = "C0DIGEST") -> SlackRequest:
    ts = "1772300000.000500"
    return SlackRequest("mention:1", "T0TEAM", channel, "U0ASKER", thread=thread or ts, message=ts)
