"""Threads about the sample in which questions are asked, answered as in the demo, through the bot's real tools."""

import re
from dataclasses import dataclass, field
from functools import cache

from bot.app import App
from bot.dates import LocalDay
from bot.demo.sample.sources import SampleSources
from bot.demo.stand_in import PreparedChatModel, load_sample_day
from bot.features.questions.markdown import Links
from bot.features.questions.rules import Citation, Question, ThreadMemory, parse_subject
from bot.features.questions.service import WrittenAnswer, build_initial_context, build_turns, talk_with_model
from bot.features.questions.view import label_citation
from bot.platform.commands import AllowedRepositories
from impact.text.strings import parse_date
from tests.demo.sample.test_sources import ANGELES, VLLM
from tests.features.questions.archives import RecordingDisplay, open_session
from tests.helpers.apps import make_reading_app
from tests.helpers.doubles import Sleeps, slack_request

TODAY = LocalDay(parse_date("2026-03-01"), ANGELES)
DAY = "digest 2026-02-28 repo:vllm-project/vllm"
ONE = "summary 35617"
REPOSITORIES = AllowedRepositories(VLLM)
ALL = SampleSources().numbers
NO_ANSWER = ("I have no answer to that", "Darauf habe ich keine Antwort", "这个问题没有现成的答案")


@cache
def archive() -> App:
    """The sample as the bot holds it once its digest was posted."""
    sample = SampleSources()
    app = make_reading_app(sample, sample.model, sources=sample)
    for number in sample.numbers:
        app.refresh_summary(sample.fetch_pull_request(VLLM, number))
    return app


@dataclass
class Thread:
    about: str = DAY
    most: int = 1_000
    memory: ThreadMemory = field(init=False)
    sleeps: Sleeps = field(default_factory=Sleeps)
    display: RecordingDisplay = field(default_factory=RecordingDisplay)
    unproven: list[Citation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.memory = ThreadMemory(self.about)

    def ask(self, question: str) -> WrittenAnswer:
        subject = parse_subject(self.about, REPOSITORIES, TODAY)
        toolbox = open_session(archive(), subject, today=TODAY, repositories=REPOSITORIES)
        self.sleeps, self.display = Sleeps(), RecordingDisplay(self.most)
        turns = build_turns(build_initial_context(toolbox)[0], self.memory, question, TODAY)
        model = PreparedChatModel(load_sample_day(), self.sleeps)

        def link(citation: Citation) -> tuple[str, str] | None:
            evidence = toolbox.find_evidence(citation)
            if evidence is None:
                self.unproven.append(citation)
            return label_citation(*evidence) if evidence else None

        links = Links(link, lambda _: None)
        written = talk_with_model(model, turns, toolbox, links, self.display, lambda: 0.0)
        self.memory = self.memory.add_answer(
            Question(slack_request(question[:50]), question, "1"), written.raw_text
        )
        return written


def answer(*questions: str, about: str = DAY) -> str:
    thread = Thread(about)
    return [thread.ask(question).text for question in questions][-1]


def find_numbers(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"#(\d+)", text)}
