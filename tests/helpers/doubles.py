"""Stand-ins of the ports that a test can look into."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, TypeVar

from redis import Redis

from bot.dates import LocalDay
from bot.errors import (
    GitHubAccessDenied,
    GitHubUnavailable,
    ModelRequestRejected,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
)
from bot.features.merges.summary import (
    Fallback,
    FallbackReason,
    SummarisedPullRequest,
    Summary,
    build_fallback_summary,
    read_isolated,
)
from bot.features.subscriptions.schedule import deliver_digest
from bot.platform.costs import RateLimiter
from bot.platform.jobs import Job
from bot.platform.models import Completion, Prompt
from bot.platform.models.packing import Coverage
from bot.platform.pulls.models import ChangedFile, PullRequest, sort_newest_first
from bot.platform.pulls.paths import determine_area
from bot.platform.pulls.sources import CountCheck, DayMerges, Discussion, Remark, RemarkKind, Role
from bot.platform.slack.blocks import Post
from bot.platform.slack.messenger import SlackEphemeralMessenger
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.merge_records import HistoryStore
from bot.platform.store.tables import Store, Table
from bot.usage import Usage
from impact.repository import Repository
from impact.source.models import DiffSide, SourceFile, SourceProblem
from tests.helpers.builders import changed_file, summary

P = TypeVar("P")
T = TypeVar("T")


@dataclass
class ScriptedModel:
    """Answers with a list of texts and errors, each at 10 tokens in and 5 out; keeps the prompts."""

    steps: deque[str | Exception]
    prompts: list[Prompt] = field(default_factory=list)

    @classmethod
    def of(cls, *steps: str | Exception) -> ScriptedModel:
        return cls(deque(steps))

    def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        step = self.steps.popleft()
        if isinstance(step, Exception):
            raise step
        return Completion(step, Usage(10, 5))


@dataclass
class MemoryCache:
    """``RedisCache`` in a dictionary; keeps the lifetimes it was given."""

    values: dict[str, str] = field(default_factory=dict)
    lifetimes: list[timedelta] = field(default_factory=list)

    def get(self, key: str) -> str | None:
        return self.values.get(key)

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        self.values[key] = value
        self.lifetimes.append(lifetime)

    def add(self, key: str, value: str, lifetime: timedelta) -> bool:
        if key in self.values:
            return False
        self.put(key, value, lifetime)
        return True


@dataclass
class ScriptedPulls:
    """``PullRequests`` over a list; ``failing`` are the errors that reading the files of a number raises."""

    pulls: tuple[PullRequest, ...] = ()
    failing: dict[int, PrdigestError] = field(default_factory=dict)
    refuses: PrdigestError | None = None
    files: tuple[ChangedFile, ...] = (changed_file(),)

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        if self.refuses:
            raise self.refuses
        return DayMerges(self.pulls, CountCheck(len(self.pulls), f"{repository} on {day.date}"))

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        return next(pull for pull in self.pulls if (pull.repository, pull.number) == (repository, number))

    def load_files(self, pull: PullRequest) -> PullRequest:
        if pull.number in self.failing:
            raise self.failing[pull.number]
        return replace(pull, files=self.files)


@dataclass
class Busy:
    """Counts who is inside at a time, and the most there ever were."""

    peak: int = 0
    _inside: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def one(self, seconds: float = 0.0) -> Iterator[None]:
        self._step(1)
        try:
            time.sleep(seconds)
            yield
        finally:
            self._step(-1)

    def _step(self, by: int) -> None:
        with self._lock:
            self._inside += by
            self.peak = max(self.peak, self._inside)


@dataclass
class KnownPulls:
    """``PullRequests`` over whole pull requests, whose files are given only when they are asked for.

    It is ``PullRequestBackground`` too: what people wrote is the description, as a comment by the author.

    ``calls`` keeps what was asked for, as ``day 2026-02-28``, ``pull 7`` or ``files 7``; ``failing`` are the
    errors that such a call raises, and ``counted`` is what the independent count says of a day.
    """

    pulls: tuple[PullRequest, ...] = ()
    failing: dict[str, Exception] = field(default_factory=dict)
    counted: dict[str, int | None] = field(default_factory=dict)
    latency: float = 0.0
    calls: list[str] = field(default_factory=list)
    busy: Busy = field(default_factory=Busy)

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        with self._call(f"day {day.date}"):
            own = (pull for pull in self.pulls if pull.is_merged and pull.repository == repository)
            newest_first = sort_newest_first(
                tuple(replace(pull, files=None) for pull in own if pull.merge_time in day)
            )
            return DayMerges(
                newest_first, CountCheck(self.counted.get(str(day.date), len(newest_first)), "the commits of main")
            )

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        with self._call(f"pull {number}"):
            return replace(self._find_pull(repository, number), files=None)

    def load_files(self, pull: PullRequest) -> PullRequest:
        with self._call(f"files {pull.number}"):
            return replace(pull, files=self._find_pull(pull.repository, pull.number).files)

    def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
        with self._call(f"talk {number}"):
            pull = self._find_pull(repository, number)
            comment, text = RemarkKind.COMMENT, pull.body
            remark = Remark("issuecomment-1", comment, pull.author, Role.AUTHOR, pull.merged_at, text)
            return Discussion(repository, number, pull.title, (remark,))

    def find_merges(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        with self._call(f"commits {' '.join(commits)}"):
            own = [pull for pull in self.pulls if pull.repository == repository and pull.merge_commit]
            return {
                commit: replace(pull, files=None)
                for commit in commits
                for pull in own
                if str(pull.merge_commit).startswith(commit)
            }

    def _find_pull(self, repository: Repository, number: int) -> PullRequest:
        for pull in self.pulls:
            if (pull.repository, pull.number) == (repository, number):
                return pull
        raise PullRequestNotFound(f"{repository} has no pull request #{number}.")

    @contextmanager
    def _call(self, name: str) -> Iterator[None]:
        self.calls.append(name)
        with self.busy.one(self.latency):
            if name in self.failing:
                raise self.failing[name]
            yield


@dataclass(frozen=True)
class SummaryResult:
    summary: Summary
    from_cache: bool = False
    cost: float | None = 0.0


@dataclass
class StubReader:
    pulls: Any
    summarise: Callable[[PullRequest], SummaryResult]

    def read_pull_request(self, pull: PullRequest) -> SummarisedPullRequest:
        return read_isolated(pull, self._read)

    def _read(self, pull: PullRequest) -> SummarisedPullRequest:
        loaded = self.load_files(pull)
        done = self.summarise(loaded)
        return SummarisedPullRequest(loaded, done.summary, determine_area(loaded), done.from_cache, done.cost)

    def load_files(self, pull: PullRequest) -> PullRequest:
        try:
            return pull if pull.files is not None else self.pulls.load_files(pull)
        except (GitHubAccessDenied, GitHubUnavailable, PullRequestNotFound, RateLimited):
            return pull


@dataclass
class Summaries:
    """``Model`` that answers each prompt with ``stub_summary``; keeps the numbers it was asked about.

    ``away``: it gives no answer. It may also be called about a pull request.
    """

    stub_summary: Summary = field(default_factory=summary)
    away: bool = False
    latency: float = 0.0
    numbers: list[int] = field(default_factory=list)
    busy: Busy = field(default_factory=Busy)

    def __call__(self, pull: PullRequest) -> SummaryResult:
        self.numbers.append(pull.number)
        with self.busy.one(self.latency):
            if self.away or pull.files is None:
                return SummaryResult(
                    build_fallback_summary(pull, Fallback(FallbackReason.NO_MODEL), Coverage.NONE)
                )
            return SummaryResult(self.stub_summary, cost=0.5)

    def complete(self, prompt: Prompt) -> Completion:
        if prompt.version.startswith("overview"):
            raise ModelRequestRejected("it writes summaries alone")
        self.numbers.append(int(prompt.user.split(" #", 1)[1].split(":")[0]))
        with self.busy.one(self.latency):
            if self.away:
                raise ModelRequestRejected("nobody is there")
            return Completion(dump_summary(self.stub_summary), Usage(10, 5))


def dump_summary(stub: Summary) -> str:
    risks = [{"claim": risk.claim, "where": risk.where, "kind": risk.kind} for risk in stub.risks]
    told = {"claim": stub.potential_risks, "where": "", "kind": "other"}
    evidence = [{"path": each.path, "quote": each.quote} for each in stub.evidence]
    texts = "headline condition what_changed_and_why technical_impact key_insights risk_reason action"
    fields = {name: getattr(stub, name) for name in texts.split()}
    return json.dumps({"type": stub.type, **fields, "risks": risks or [told], "evidence": evidence})


class MemoryStore(Store):
    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.lifetimes: list[timedelta | None] = []
        # by key, as the leases of a real store: who asks about other keys goes on
        self._locks: dict[str, threading.RLock] = defaultdict(threading.RLock)

    def get_each(self, table: Table[T], keys: Sequence[tuple[object, ...]]) -> list[T | None]:
        return [table.codec.load_or_none(self.values.get(table.family.build_key(*parts))) for parts in keys]

    def put(self, table: Table[T], value: T, *parts: object) -> None:
        self.values[table.family.build_key(*parts)] = table.codec.dump_text(value)
        self.lifetimes.append(table.lifetime)

    @contextmanager
    def hold_lease(self, table: Table[Any], *parts: object) -> Iterator[None]:
        with self._locks[table.family.build_key(*parts)]:
            yield


@dataclass
class MemoryWhispers(SlackEphemeralMessenger):
    sent_posts: list[tuple[SlackRequest, Post]] = field(default_factory=list)

    def send(self, slack_request: SlackRequest, post: Post) -> None:
        self.sent_posts.append((slack_request, post))


@dataclass
class CountingLimiter(RateLimiter):
    """``RateLimiter`` of the first ``limit`` requests of a name; keeps the names."""

    limit: int = 1
    error: PrdigestError | None = None
    names: list[str] = field(default_factory=list)

    def try_acquire(self, name: str) -> bool:
        if self.error:
            raise self.error
        self.names.append(name)
        return self.names.count(name) <= self.limit


def slack_request(key: str = "command:1.2.3", **fields: Any) -> SlackRequest:
    """A slash command of somebody of the bot's own workspace, without a ``response_url``."""
    made = SlackRequest(key=key, team="T0TEAM", channel="C0DIGEST", user="U0ASKER", name="ada")
    return replace(made, **fields)


class Sleeps(list[float]):
    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@dataclass(frozen=True)
class SentDelivery:
    name: str
    due: datetime


class Outbox(list[tuple[Job[Any], Any]]):
    def send(self, job: Job[Any], payload: dict[str, Any]) -> None:
        self.append((job, payload))

    def of(self, job: Job[Any]) -> list[Any]:
        return [SimpleNamespace(**payload) for kind, payload in self if kind is job]

    @property
    def deliveries(self) -> list[SentDelivery]:
        return [SentDelivery(**payload) for kind, payload in self if kind is deliver_digest]


@dataclass
class FileTree:
    """``SourceFiles`` of one commit; keeps what it was asked for."""

    texts: dict[str, str] = field(default_factory=dict)
    error: PrdigestError | None = None
    asked: list[tuple[str, DiffSide, tuple[str, ...]]] = field(default_factory=list)

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        self.asked.append((commit, side, tuple(paths)))
        if self.error:
            raise self.error
        missing = SourceProblem.MISSING
        return {
            path: SourceFile(path, self.texts[path]) if path in self.texts else SourceFile(path, problem=missing)
            for path in paths
        }


class ReadHistory(HistoryStore):
    """The history in a store; keeps from when to when it was read."""

    def __init__(self, store: Redis) -> None:
        super().__init__(store)
        self.spans: list[tuple[datetime, datetime]] = []

    def read_merges(self, repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
        self.spans.append((since, until))
        return super().read_merges(repository, since, until)
