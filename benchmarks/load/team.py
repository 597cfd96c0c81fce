"""A large team: channels that get the digests of repositories in which something was merged yesterday."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from benchmarks.commands import SECRET
from benchmarks.day import open_empty_world
from bot.features.subscriptions.rules import Subscription, Timing
from bot.platform.store.connection import connect_server
from bot.platform.store.due_queue import DueQueue, NextDigest
from impact.repository import Repository
from tests.emulators.claude.server import schema_of
from tests.emulators.github.store import PullRecord, changed_file, pull, sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.checks import closed_port
from tests.helpers.subscriptions import StoredSubscriptions
from tests.helpers.world import World

PULLS = 5
# calls in an hour: beyond what a token has, so that the measurement counts calls and does not wait for GitHub
NO_LIMIT = 1_000_000
_NOON, _NINE = 12, 9
# the easternmost zone of the database that has whole hours is 14 ahead, the westernmost 12 behind
_MAX_BEHIND = 12
_ADDED_LINES = 40


@dataclass(frozen=True)
class TeamSize:
    channels: int
    repositories: int
    pulls: int = PULLS

    def get_repository(self, channel: int) -> Repository:
        """Return the repository of a channel: neighbours differ, so that no cache of a process is flattered."""
        return Repository("octo", f"engine-{channel % self.repositories}")

    def list_repositories(self) -> list[str]:
        return [f"octo/engine-{number}" for number in range(self.repositories)]


@contextmanager
def open_team(size: TeamSize) -> Iterator[World]:
    """Yield a Slack with the channels, a GitHub with the repositories, and settings for the bot.

    Slack takes one post a second in each channel. GitHub's limit is off, since its calls are counted.
    """
    with open_empty_world() as there:
        for number in range(size.channels):
            there.slack.add_channel(name_channel(number), f"team-{number}")
        there.slack.posts_per_second = 1.0
        for resource in ("core", "graphql", "search"):
            there.github.set_limit(resource, NO_LIMIT)
        there.settings.update(
            PRDIGEST_REPO=size.list_repositories()[0],
            PRDIGEST_REPOS=",".join(size.list_repositories()),
            PRDIGEST_DAILY_BUDGET="10000",
            PRDIGEST_USER_LIMIT="1000",
            SLACK_SIGNING_SECRET=SECRET,
            PORT=str(closed_port()),
        )
        yield there


def name_channel(number: int) -> str:
    return f"C{number:08d}"


def choose_zone(now: datetime) -> ZoneInfo:
    """Return a zone in which it is about nine in the morning: yesterday's merges are long over there."""
    behind = min(now.astimezone(UTC).hour - _NINE, _MAX_BEHIND)
    return ZoneInfo(f"Etc/GMT{behind:+d}" if behind else "Etc/GMT")


def add_merges(there: World, size: TeamSize, date: dt.date, zone: ZoneInfo) -> None:
    noon = datetime.combine(date, dt.time(_NOON), zone).astimezone(UTC)
    for place, name in enumerate(size.list_repositories()):
        first = get_first_number(date)
        for number in range(first, first + size.pulls):
            there.github.add(name, _make_pull(number, place, noon + timedelta(minutes=number - first)))
            there.github.add_commit(name, _make_commit(number, place))


def get_first_number(date: dt.date) -> int:
    """Return the number of the first pull request that was merged on a date; the others follow."""
    return (date.toordinal() % 10_000 + 1) * 100


def _make_pull(number: int, place: int, merged_at: datetime) -> PullRecord:
    lines = _write_lines(number, place)
    patch = f"@@ -1,1 +1,{_ADDED_LINES + 1} @@\n start\n{lines}"
    title = f"Weigh part {number} of engine {place}"
    return pull(number, title=title, merged_at=merged_at, files=[changed_file(f"src/part_{number}.py", patch)])


def _write_lines(number: int, place: int) -> str:
    return "\n".join(f"+    total = total + weights[{line}] * {number} * {place}" for line in range(_ADDED_LINES))


def _make_commit(number: int, place: int) -> TreeCommit:
    before, after = (
        FixedTree({f"src/part_{number}.py": Entry(f"start\n{lines}".encode())})
        for lines in ("", _write_lines(number, place).replace("+    ", ""))
    )
    return TreeCommit(sha(f"merge {number}"), after, TreeCommit(sha(f"before {number}"), before))


def subscribe_channels(there: World, size: TeamSize, due: datetime, zone: ZoneInfo) -> None:
    """Subscribe each channel to its repository. The first digest of all is due at one instant."""
    with connect_server(there.settings["REDIS_URL"]) as store:
        subscriptions, due_queue = StoredSubscriptions(store), DueQueue(store)
        timing = Timing(due.astimezone(zone).time().replace(microsecond=0), zone)
        for number in range(size.channels):
            each = Subscription(name_channel(number), size.get_repository(number), timing, by="U0ADA")
            subscriptions.put(each)
            due_queue.put(NextDigest(each.id), due)


def count_model_calls(there: World, since: int = 0) -> Counter[str]:
    """Count the model's calls by what they were for: summaries, overviews, reviews, questions."""
    return Counter(_name_purpose(body) for body in there.claude.requests[since:])


def _name_purpose(body: dict[str, object]) -> str:
    fields = (schema_of(body) or {}).get("properties", {})
    marks = {"headline": "summary", "themes": "overview", "suspicions": "review"}
    return next((purpose for field, purpose in marks.items() if field in fields), "question")


def count_github_calls(there: World, since: int = 0) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for call in there.github.calls[since:]:
        name = call.path.rpartition("/")[2]
        kinds[_name_query(call.body) if name == "graphql" else name] += 1
    return kinds


def _name_query(body: bytes) -> str:
    """Return what a query of GraphQL asks for, by the first words of its text."""
    text = str(json.loads(body).get("query", ""))
    marks = {
        "object(": "source files",
        "search(": "search",
        "pullRequests(": "day list",
        "pullRequest(": "pull request",
    }
    return next((kind for mark, kind in marks.items() if mark in text), "other query")
