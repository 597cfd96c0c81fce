"""What the tests of what became of a digest share: one that was posted, with a fuse in front of each port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from localslack.state.workspace import Json
from redis import Redis

from bot.adapters.redis.due_queue import RedisDueQueue
from bot.adapters.redis.records.history import RedisHistoryStore
from bot.adapters.redis.records.posted_digests import RedisPostedDigestIndex
from bot.domain.pull_requests.models import PullRequest
from bot.domain.subscriptions.models import DigestSpec
from bot.features.digest.view import render_digest
from bot.platform.costs import Expense
from bot.platform.store.connection import RedisCache
from bot.services.digest.poster import DigestPoster
from bot.services.digest.records import DigestRecords
from bot.services.history.merge_timeline import MergeTimeline
from bot.services.history.outcome_checks import CHECK_INTERVAL, OutcomeCheckPlanner
from bot.services.history.outcome_watcher import OutcomeWatcher
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.builders import NOON, REPOSITORY, changed_file, digest, entry, pull
from tests.helpers.records import digest_store
from tests.render.accepted import strings
from tests.services.digest.posting import HOME, SPEC, Fragile, Fuse, messenger_of
from tests.services.doubles import KnownPulls, Outbox, Sleeps
from tests.services.subscriptions.scheduled import Wall, key_of

SHOWN: tuple[dict[str, Any], ...] = (
    {"number": 1},
    {"number": 2, "title": "Faster attention", "files": (changed_file("engine/core.py", 900, 900),)},
    {"number": 3},
)
REVERT = pull(9, title='Revert "Faster attention" (#2)', merged_at=NOON + timedelta(hours=22))
AGAIN = pull(10, title='Revert "Revert "Faster attention" (#2)" (#9)', merged_at=NOON + timedelta(hours=40))
BEHIND = " — reverted after 22.0 h by #9"


@dataclass
class Desk:
    """A digest of three, posted at nine, and all that looks after it; ``fuse`` stands in front of each port."""

    slack: SlackEmulator
    store: Redis
    wall: Wall = field(default_factory=Wall)
    pulls: KnownPulls = field(default_factory=KnownPulls)
    fuse: Fuse = field(default_factory=Fuse)
    amends: Outbox = field(default_factory=Outbox)

    def __post_init__(self) -> None:
        self.records: Any = self._fragile(digest_store(self.store))
        issued, agenda, cache = (
            self._fragile(made(self.store)) for made in (RedisPostedDigestIndex, RedisDueQueue, RedisCache)
        )
        history = self._fragile(RedisHistoryStore(self.store))
        chronicle = MergeTimeline(lambda: history, self._fragile(self.pulls).list_merged, self.wall)
        messenger = self._fragile(messenger_of(self.slack))
        digests = DigestRecords(self.records, messenger.fetch_team)
        self.planner = OutcomeCheckPlanner(cache, issued, agenda, self.wall)
        self.poster = DigestPoster(messenger, digests, self.wall, Sleeps(), self.begin)
        self.aftermath = OutcomeWatcher(chronicle, cache, issued, digests, self.poster, agenda, self.wall)
        self.digests = digests

    def _fragile(self, port: object) -> Any:
        return Fragile(port, self.fuse)

    def begin(self, edition: DigestSpec, key: str) -> None:
        self.planner.plan_checks(edition, key)

    # what happens

    def post(self) -> str:
        """Post the digest, or finish what another began; its key."""
        entries = [entry(**fields) for fields in SHOWN]
        RedisHistoryStore(self.store).record_merges([tracked_digest.pull for tracked_digest in entries])
        tracked_digest = self.digests.find_digest(SPEC)
        made = self.poster.post_digest(tracked_digest, lambda: render_digest(digest(*entries))).record
        self.records.save(tracked_digest.key, made, made.record_posting(SPEC, "", Expense()))
        return tracked_digest.key

    def merge(self, *pulls: PullRequest) -> None:
        """This was merged, and it is time to look."""
        self.pulls.pulls += pulls
        self.wall.now = max(self.wall.now, *(each.merge_time for each in pulls)) + CHECK_INTERVAL

    def look(self) -> None:
        self.aftermath.check_repository(REPOSITORY, self._fragile(self.amends))

    # what came of it

    @property
    def digest(self) -> dict[str, list[str]]:
        """The lines of each message of the digest, by its key."""
        return {key_of(each): lines(each) for each in self._messages() if "!" not in key_of(each)}

    @property
    def told(self) -> list[str]:
        """What was said in the thread besides the digest."""
        return ["".join(strings(each["blocks"])) for each in self._messages() if "!" in key_of(each)]

    def _messages(self) -> Sequence[Json]:
        """All but the report. A message that is there twice is a failure."""
        [lead] = self.slack.list_messages(HOME)
        messages = [each for each in (lead, *self.slack.list_replies(HOME, lead["ts"])) if not each.get("files")]
        assert len({key_of(each) for each in messages}) == len(messages)
        return messages


def lines(message: Json) -> list[str]:
    """Each item of its lists, and each part that is none, as a person reads it."""
    parts = [part for block in message["blocks"] for part in block.get("elements", [block])]
    rows = [part["elements"] if part.get("type") == "rich_text_list" else [part] for part in parts]
    return ["".join(strings(item)) for items in rows for item in items]


def end_lines(before: dict[str, list[str]], end: str) -> dict[str, list[str]]:
    """The same digest, with this behind each line of its second pull request."""
    return {
        key: [f"{line}{end}" if line.startswith("#2 ") else line for line in day_lines]
        for key, day_lines in before.items()
    }
