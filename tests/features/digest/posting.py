"""What the tests of posting share: a digest to post, a world that fails on purpose, and a look at the channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from bot.dates import Span
from bot.features.digest.posts import DigestRecords, PostedDigest, PostingResult, post_digest, revise_digest
from bot.features.digest.rules import DigestSpec
from bot.features.digest.view import RenderedDigest
from bot.platform.slack.blocks import Attachment, Post
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import SlackMessenger
from bot.platform.store.records import RecordStore
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.apps import make_app
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.doubles import MemoryCache, Sleeps

HOME = "C0DIGEST"
SPEC = DigestSpec(HOME, REPOSITORY, Span(DAY.date, DAY.date, DAY.zone))
MORNING = DAY.end + timedelta(hours=8)
PARTS = ("Part 1", "Part 2", "Part 3")


def post(text: str) -> Post:
    return Post(text, ({"type": "header", "text": {"type": "plain_text", "text": text}},))


def make_rendering(lead: str = "Engine", parts: tuple[str, ...] = PARTS, *, report: bool = True) -> RenderedDigest:
    file = Attachment("Engine-2026-02-28.md", "Full report", f"# {lead}\n") if report else None
    posts = tuple(post(part) for part in parts)
    return RenderedDigest(post(lead), posts, file, fingerprint=f"{lead} {parts}")


class Build:
    def __init__(self, *made: RenderedDigest) -> None:
        self._made = made
        self.count = 0

    def __call__(self) -> RenderedDigest:
        self.count += 1
        return self._made[self.count - 1] if self._made else make_rendering(f"Engine {self.count}")


@dataclass
class MemoryMessenger(SlackMessenger):
    """A Slack in a list: each message is (channel, thread, key, text)."""

    messages: list[tuple[str, str | None, str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def fetch_team(self) -> str:
        return "T0TEAM"

    def post_message(
        self, channel: str, post: Mapping[str, Any], key: str, thread: str | None = None, about: str = ""
    ) -> str:
        self.messages.append((channel, thread, key, post["text"]))
        return f"{len(self.messages)}.0"

    def open_direct_messages(self, user: str) -> str:
        return f"D{user[1:]}"

    def edit_message(self, channel: str, message: str, post: Mapping[str, Any], key: str, about: str = "") -> None:
        place = int(message.partition(".")[0]) - 1
        assert (self.messages[place][0], self.messages[place][2]) == (channel, key)
        self.messages[place] = (*self.messages[place][:3], post["text"])

    def find_posts(self, channel: str, since: datetime, thread: str | None = None) -> dict[str, str]:
        assert since <= MORNING
        numbered = enumerate(self.messages, 1)
        return {key: f"{n}.0" for n, (place, under, key, _) in numbered if (place, under) == (channel, thread)}

    def attach_file(self, channel: str, thread: str, file: Attachment) -> None:
        self.files.append(f"{channel} {thread} {file.name}")

    def has_attachment(self, channel: str, thread: str, name: str) -> bool:
        return f"{channel} {thread} {name}" in self.files

    def fetch_permalink(self, channel: str, message: str) -> str:
        return f"https://slack.test/{channel}/{message}"


class Crash(BaseException):
    """The process dies here."""


@dataclass
class Fuse:
    """Burns at the given call, counted from 1: before its effect, or after it and before its answer."""

    at: int = 0
    with_effect: bool = False
    error: type[BaseException] = Crash
    for_good: bool = False
    calls: list[str] = field(default_factory=list)

    @property
    def burnt(self) -> bool:
        return bool(self.at) and len(self.calls) >= self.at

    def before(self, name: str, _arguments: object = None) -> None:
        self.calls.append(name)
        self._burn(len(self.calls) == self.at and not self.with_effect)

    def after(self, _name: str, _arguments: object = None) -> None:
        self._burn(len(self.calls) == self.at and self.with_effect)

    def _burn(self, now: bool) -> None:
        if now or (self.for_good and len(self.calls) > self.at > 0):
            raise self.error


class Fragile:
    def __init__(self, behind: object, fuse: Fuse) -> None:
        self._behind = behind
        self._fuse = fuse

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._behind, name)

        def call(*arguments: Any, **more: Any) -> Any:
            if name in ("hold_lock", "hold_lease"):
                return method(*arguments, **more)
            self._fuse.before(name)
            answer = method(*arguments, **more)
            self._fuse.after(name)
            return answer

        return call


def poster_of(messenger: Any, records: Any, sleeps: Sleeps | None = None, now: datetime = MORNING) -> Poster:
    tracked = DigestRecords(records, messenger.fetch_team)
    return Poster(messenger, tracked, Sleeps() if sleeps is None else sleeps, lambda: now)


class Poster:
    """What posts and revises, as the owner of a specification uses it. The checks that follow are left out."""

    def __init__(
        self, messenger: Any, records: DigestRecords, sleeps: Sleeps, now: Callable[[], datetime]
    ) -> None:
        nothing: Any = ForgetfulStore()
        parts = {"messenger": messenger, "digest_records": records, "now": now, "sleep": sleeps}
        app = make_app(nothing, cache=MemoryCache(), tables=nothing, due_queue=nothing, **parts)
        self.post_tracked, self.revise_tracked = partial(post_digest, app), partial(revise_digest, app)
        self._find = records.find_digest

    def post(self, spec: DigestSpec, build: Callable[[], RenderedDigest]) -> PostingResult:
        return self.post_tracked(self._find(spec), build)

    def revise(self, spec: DigestSpec, build: Callable[[], RenderedDigest]) -> PostingResult:
        return self.revise_tracked(self._find(spec), build)


class ForgetfulStore:
    """An index and a queue that keep nothing."""

    def add(self, *_: object) -> None:
        pass

    add_member = add


def publish(
    messenger: SlackMessenger | Fragile,
    records: RecordStore[PostedDigest] | Fragile,
    build: Callable[[], RenderedDigest],
) -> PostingResult:
    return poster_of(messenger, records).post(SPEC, build)


def messenger_of(slack: SlackEmulator) -> SlackMessenger:
    return SlackMessenger(make_slack_client(slack.token, slack.url))


@dataclass(frozen=True)
class Standing:
    leads: list[str]
    parts: list[str]
    files: list[str]


COMPLETE = Standing(["Engine 1"], list(PARTS), ["Engine-2026-02-28.md"])


def standing(slack: SlackEmulator) -> Standing:
    leads = slack.list_messages(HOME)
    replies = [reply for lead in leads for reply in slack.list_replies(HOME, lead["ts"])]
    return Standing(
        [lead["text"] for lead in leads],
        [reply["text"] for reply in replies if not reply.get("files")],
        [file["name"] for file in slack.files],
    )
