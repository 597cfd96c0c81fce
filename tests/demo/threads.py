"""Threads about the sample in which questions are asked, answered by rules through the bot's real tools."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from bot.demo.sample.sources import Sample
from bot.demo.stand_in import StandIn
from bot.domain.conversations.commands import Repositories
from bot.domain.conversations.thread import Memory, Question
from bot.domain.conversations.thread_subject import subject_of
from bot.domain.time.day import LocalDay, parse_date
from bot.render.conversations.streaming import Links
from bot.services.questions.agent import Answerer
from bot.services.questions.answer_progress import Written
from bot.services.questions.archive import Archive
from bot.services.questions.initial_context import opening, turns
from bot.services.questions.tools.toolbox import Toolbox
from bot.services.summaries.entry_cache import Entries
from bot.services.summaries.reader import Reader
from bot.services.summaries.structured_completion import Asker
from bot.services.summaries.summarizer import Summariser
from tests.demo.sample.test_sources import ANGELES, VLLM
from tests.services.doubles import MemoryCache, Sleeps, visit
from tests.services.questions.archives import RecordingDisplay

TODAY = LocalDay(parse_date("2026-03-01"), ANGELES)
DAY = "digest 2026-02-28 repo:vllm-project/vllm"
ONE = "summary 35617"
REPOSITORIES = Repositories(VLLM)
QUIET = Links(lambda _: None, lambda _: None)
ALL = Sample().numbers
ACTING = {35621, 35441, 35271, 34214, 33671, 35600}


@cache
def archive() -> Archive:
    """The sample as the bot holds it once its digest was posted."""
    sample, memory = Sample(), MemoryCache()
    summariser = Summariser(Asker(sample.model, memory, Sleeps()), "any", 30_000, must_prove=False)
    reader = Reader(sample, summariser.summarise)
    entries = Entries(sample, reader, memory, "any")
    for number in sample.numbers:
        entries.read(sample.fetch_pull_request(VLLM, number))
    return Archive(sample, reader, entries, 1)


@dataclass
class Thread:
    """A thread about the sample, and the last answer in it."""

    about: str = DAY
    most: int = 1_000
    memory: Memory = field(init=False)
    sleeps: Sleeps = field(default_factory=Sleeps)
    display: RecordingDisplay = field(default_factory=RecordingDisplay)

    def __post_init__(self) -> None:
        self.memory = Memory(self.about)

    def ask(self, question: str) -> Written:
        subject = subject_of(self.about, REPOSITORIES, TODAY)
        toolbox = Toolbox(archive(), REPOSITORIES, TODAY, subject)
        self.sleeps, self.display = Sleeps(), RecordingDisplay(self.most)
        talk = turns(opening(toolbox, subject), self.memory, question, TODAY)
        answerer = Answerer(StandIn(self.sleeps), "any", lambda: 0.0, self.sleeps)
        written = answerer.answer(talk, toolbox, QUIET, self.display)
        self.memory = self.memory.with_answer(Question(visit(question[:50]), question, "1"), written.said)
        return written


def answer(*questions: str, about: str = DAY) -> str:
    """The answer to the last of the questions of a thread."""
    thread = Thread(about)
    return [thread.ask(question).text for question in questions][-1]


def named(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"#(\d+)", text)}
