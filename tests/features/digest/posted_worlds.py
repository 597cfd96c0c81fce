from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from localslack.state.workspace import Json
from redis import Redis

from bot.features.digest.posts import DigestRecords, amend_digest, check_repository, post_digest
from bot.features.digest.view import render_digest
from bot.platform.pulls.models import PullRequest
from bot.platform.store.connection import RedisCache
from bot.platform.store.due_queue import CHECK_INTERVAL, DueQueue
from bot.platform.store.merge_records import HistoryStore
from bot.platform.store.tables import Store
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME, SPEC, Fragile, Fuse, messenger_of
from tests.features.subscriptions.scheduled import DUE, KEY, Wall, key_of
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON, REPOSITORY, changed_file, digest, entry, pull
from tests.helpers.doubles import KnownPulls, Outbox, Sleeps
from tests.helpers.records import digest_store
from tests.platform.slack.accepted import strings

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
        messenger = self._fragile(messenger_of(self.slack))
        self.app = make_app(
            self.store,
            messenger=messenger,
            digest_records=DigestRecords(self.records, messenger.fetch_team),
            tables=self._fragile(Store(self.store)),
            due_queue=self._fragile(DueQueue(self.store)),
            cache=self._fragile(RedisCache(self.store)),
            merge_history=self._fragile(HistoryStore(self.store)),
            pulls=self.pulls,
            day_lists=self._fragile(self.pulls),
            now=self.wall,
            sleep=Sleeps(),
            jobs=self._fragile(self.amends),
        )

    def _fragile(self, port: object) -> Any:
        return Fragile(port, self.fuse)

    # what happens

    def post(self) -> str:
        """Post the digest, or finish what another began; its key."""
        entries = [entry(**fields) for fields in SHOWN]
        HistoryStore(self.store).record_merges([tracked_digest.pull for tracked_digest in entries])
        tracked_digest = self.app.digest_records.find_digest(SPEC)
        made = post_digest(self.app, tracked_digest, lambda: render_digest(digest(*entries))).record
        self.records.save(tracked_digest.key, made, made.keep_spec(SPEC))
        return tracked_digest.key

    def merge(self, *pulls: PullRequest) -> None:
        self.pulls.pulls += pulls
        self.wall.now = max(self.wall.now, *(each.merge_time for each in pulls)) + CHECK_INTERVAL

    def look(self) -> None:
        check_repository(self.app, REPOSITORY)

    def amend(self) -> None:
        amend_digest.run(self.app, KEY, DUE)

    # what came of it

    @property
    def digest(self) -> dict[str, list[str]]:
        return {key_of(each): lines(each) for each in self._messages() if "!" not in key_of(each)}

    @property
    def told(self) -> list[str]:
        return ["".join(strings(each["blocks"])) for each in self._messages() if "!" in key_of(each)]

    def _messages(self) -> Sequence[Json]:
        """All but the report. A message that is there twice is a failure."""
        [lead] = self.slack.list_messages(HOME)
        messages = [each for each in (lead, *self.slack.list_replies(HOME, lead["ts"])) if not each.get("files")]
        assert len({key_of(each) for each in messages}) == len(messages)
        return messages


def lines(message: Json) -> list[str]:
    parts = [part for block in message["blocks"] for part in block.get("elements", [block])]
    rows = [part["elements"] if part.get("type") == "rich_text_list" else [part] for part in parts]
    return ["".join(strings(item)) for items in rows for item in items]


def end_lines(before: dict[str, list[str]], end: str) -> dict[str, list[str]]:
    """The same digest, with this behind each line of its second pull request."""
    return {
        key: [f"{line}{end}" if line.startswith("#2 ") else line for line in day_lines]
        for key, day_lines in before.items()
    }
