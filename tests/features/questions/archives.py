import json
import re
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from types import SimpleNamespace
from typing import Any

from bot.app import App
from bot.dates import LocalDay, Span, parse_span
from bot.errors import AnswerCancelled, ModelBusy, PrdigestError
from bot.features.merges.risk import assess_pull_request
from bot.features.merges.summary import SummarisedPullRequest, Summary
from bot.features.merges.view import Entry
from bot.features.questions.reading import ReadingSession
from bot.features.questions.rules import ThreadSubject
from bot.features.questions.tools import build_tools
from bot.features.summaries.service import keep_summary
from bot.platform.commands import AllowedRepositories
from bot.platform.models import Chat, ChatEvent, TextDelta, ToolCall, ToolResult, Turn, TurnEnd, TurnUsage, tools
from bot.platform.pulls.models import Account, ChangedFile, PullRequest
from bot.platform.pulls.sources import PullRequestBackground, PullRequests
from bot.platform.slack.blocks import TaskCard
from bot.platform.source.reading import CodeSources
from bot.usage import Usage
from impact.repository import Repository
from impact.text.strings import parse_date
from tests.helpers.apps import NO_NEARBY, make_reading_app
from tests.helpers.builders import DAY, REPOSITORY, SHARED
from tests.helpers.doubles import KnownPulls, MemoryStore, Summaries

TODAY = LocalDay(parse_date("2026-03-01"), DAY.zone)
TOOLS = Repository("octo", "tools")
REPOSITORIES = AllowedRepositories(REPOSITORY, (TOOLS,))
VLLM = Repository("vllm-project", "vllm")
REPLAYED = ("2026-02-22", "2026-02-24", "2026-02-28")


def days(text: str) -> Span:
    """Days as people name them on the first of March."""
    return parse_span(text, TODAY, 366)


ABOUT_DAY = ThreadSubject(REPOSITORY, days("2026-02-28"))


def read_no_history(repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
    return ()


@dataclass
class Shelf:
    """Pull requests in memory, which sessions read; keeps who was asked for what."""

    pulls: PullRequests
    cache: MemoryStore = field(default_factory=MemoryStore)
    summaries: Summaries = field(default_factory=Summaries)
    workers: int = 4
    repositories: AllowedRepositories = REPOSITORIES
    session_type: type[ReadingSession] = ReadingSession
    code: CodeSources = field(default_factory=CodeSources)
    background: PullRequestBackground | None = None
    read_history: Callable[..., tuple[PullRequest, ...]] = read_no_history
    # more parts of the app
    parts: dict[str, Any] = field(default_factory=dict)

    @property
    def app(self) -> App:
        timeline = SimpleNamespace(
            assess_risk=assess_pull_request,
            read_merges_or_none=self.read_history,
            load_nearby=lambda _: NO_NEARBY,
            find_outcomes=lambda _: (),
        )
        app = make_reading_app(self.pulls, self.summaries, cached=self.cache, timeline=timeline)
        app.settings = app.settings.model_copy(update={"prdigest_concurrency": self.workers})
        return app

    def keep(self, pull: PullRequest, made: Summary) -> None:
        read = SummarisedPullRequest(pull.remove_patches(), made, "Engine")
        keep_summary(self.app, read)

    def toolbox(self, subject: ThreadSubject = ABOUT_DAY) -> ReadingSession:
        return open_session(
            self.app,
            subject,
            self.session_type,
            repositories=self.repositories,
            code=self.code,
            background=self.background,
            **self.parts,
        )


def open_session(
    app: App,
    subject: ThreadSubject = ABOUT_DAY,
    session_type: type[ReadingSession] = ReadingSession,
    today: LocalDay = TODAY,
    **parts: Any,
) -> ReadingSession:
    """A session for one answer; ``parts`` are more of the app."""
    app.__dict__.update({"repositories": REPOSITORIES, "code": CodeSources(), "background": None, **parts})
    return session_type(app, today, subject)


def shelf(*pulls: PullRequest, failing: Mapping[str, Exception] | None = None) -> Shelf:
    known = KnownPulls(pulls, dict(failing or {}))
    return Shelf(known, background=known)


def run_tool(session: ReadingSession, name: str, /, **arguments: Any) -> str:
    output = call_tool(session, name, arguments)
    assert not output.is_error, output.text
    return inside(output)


def call_tool(session: ReadingSession, name: str, arguments: Mapping[str, Any]) -> ToolResult:
    return tools.run_tool(build_tools(session), ToolCall("call-1", name, arguments))


def inside(output: ToolResult) -> str:
    opened, _, rest = output.text.partition("\n")
    text, _, closed = rest.rpartition("\n")
    mark = re.fullmatch(r'<data (id="[0-9a-f]{8}")>', opened)
    assert mark, output.text[:200]
    assert closed == f"</data {mark[1]}>"
    return text


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^#(\d+) ", text, re.M)]


# the real days


@cache
def records(date: str) -> tuple[dict[str, Any], ...]:
    """What GitHub says of the pull requests of a day, each with its ``files``."""
    folder = SHARED / "replay" / date
    document = json.loads((folder / "pulls.json").read_text())["pulls"]
    return tuple(
        {**each, "files": json.loads((folder / "files" / f"{each['number']}.json").read_text())}
        for each in document
    )


def every_record() -> tuple[dict[str, Any], ...]:
    return tuple(record for date in REPLAYED for record in records(date))


def _as_pull(record: Mapping[str, Any]) -> PullRequest:
    return PullRequest(
        repository=VLLM,
        number=record["number"],
        title=record["title"],
        body=record["body"] or "",
        author=Account(record["author"], record["author"].endswith("[bot]")),
        merged_by=Account(record["merged_by"]),
        merged_at=datetime.fromisoformat(record["merged_at"]),
        merge_commit=record["merge_commit_sha"],
        head_commit=record["head_sha"],
        additions=record["additions"],
        deletions=record["deletions"],
        changed_files=record["changed_files"],
        base="main",
        files=tuple(_as_file(each) for each in record["files"]),
    )


def _as_file(item: Mapping[str, Any]) -> ChangedFile:
    return ChangedFile(
        item["filename"],
        item["status"],
        item["additions"],
        item["deletions"],
        item.get("patch"),
        item.get("previous_filename"),
    )


@cache
def _replay_pulls() -> tuple[PullRequest, ...]:
    return tuple(_as_pull(record) for record in every_record())


def replayed_shelf(pulls: PullRequests | None = None) -> Shelf:
    return Shelf(pulls or KnownPulls(_replay_pulls()), repositories=AllowedRepositories(VLLM))


_entries: dict[int, Entry] = {}


class ReadOnce(ReadingSession):
    """The real days, for which no summary is kept: each pull request is cleaned and rated once for all tests."""

    def build_entry(self, pull: PullRequest) -> Entry:
        if pull.number not in _entries:
            _entries[pull.number] = super().build_entry(pull)
        return _entries[pull.number]


def open_replay(date: str, pulls: PullRequests | None = None) -> ReadingSession:
    """The tools for a thread about one of the real days, over all three; other ``pulls`` are read each time."""
    there = replayed_shelf(pulls)
    if pulls is None:
        there.session_type = ReadOnce
    return there.toolbox(ThreadSubject(VLLM, days(date)))


# the talk with the model


@dataclass
class Clock:
    """Seconds that pass only when somebody says so, or sleeps; keeps how long was slept."""

    now: float = 1_000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


# of a turn that a test says nothing else of
USAGE = Usage(100, 10)


@dataclass(frozen=True)
class Says:
    """A turn of the model: words, each of which takes ``seconds``; then calls of tools, or a failure."""

    words: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = USAGE
    is_cut: bool = False
    error: PrdigestError | None = None
    seconds: float = 0.0

    @property
    def turn(self) -> Turn:
        return Turn("model", model_blocks=({"type": "text", "text": "".join(self.words)},))


def says(*words: str, **fields: Any) -> Says:
    return Says(words, **fields)


def answers(*words: str, **fields: Any) -> Says:
    return Says(("<answer>", *words, "</answer>"), **fields)


def uses(*tools: str, words: tuple[str, ...] = (), **fields: Any) -> Says:
    """Calls of tools by name, without arguments."""
    return Says(words, tuple(call(name, f"{name}-{place}") for place, name in enumerate(tools)), **fields)


def call(name: str, key: str = "call-1", **arguments: Any) -> ToolCall:
    return ToolCall(key, name, arguments)


def breaks(*words: str, error: PrdigestError | None = None, **fields: Any) -> Says:
    began = ("<answer>", *words) if words else ()
    return Says(began, error=error or ModelBusy("the model is busy"), **fields)


@dataclass
class ScriptedTalk:
    """``ChatModel`` that follows a script; keeps the talks that it was asked to go on with.

    ``open`` says how many of its turns nobody has heard to the end, or closed.
    """

    clock: Clock
    script: deque[Says]
    chats: list[Chat] = field(default_factory=list)
    open: int = 0

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        self.chats.append(chat)
        step = self.script.popleft()
        self.open += 1
        try:
            yield TurnUsage(step.usage)
            for word in step.words:
                self.clock.now += step.seconds
                yield TextDelta(word)
            if step.error:
                raise step.error
            yield from step.calls
            yield TurnEnd(step.turn, step.is_cut)
        finally:
            self.open -= 1


@dataclass
class RecordingDisplay:
    """An ``AnswerDisplay`` in a list.

    After ``most`` pieces the asker wants no more; ``error`` is raised by any piece.
    """

    most: int = 1_000
    error: PrdigestError | None = None
    statuses: list[str] = field(default_factory=list)
    tasks: list[TaskCard] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    @property
    def visible(self) -> str:
        return self.seen[-1] if self.seen else ""

    def show_status(self, doing: str) -> None:
        self.statuses.append(doing)

    def show_tasks(self, *tasks: TaskCard) -> None:
        self.tasks += tasks

    def append_text(self, text: str) -> None:
        self._see(self.visible + text)

    def replace_text(self, text: str) -> None:
        self._see(text)

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        raise AssertionError("the talk does not finish what it shows")

    def _see(self, text: str) -> None:
        if self.error:
            raise self.error
        if len(self.seen) >= self.most:
            raise AnswerCancelled("no more")
        self.seen.append(text)


@dataclass
class SlowPulls(KnownPulls):
    """Reading the files of a pull request takes ``seconds`` of the clock."""

    clock: Clock = field(default_factory=Clock)
    seconds: float = 0.0

    def load_files(self, pull: PullRequest) -> PullRequest:
        self.clock.now += self.seconds
        return super().load_files(pull)
