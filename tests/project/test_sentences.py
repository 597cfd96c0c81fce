"""What people read stands in one module for each capability of :mod:`bot.render`, and nowhere above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.tools.full_sentences import find_spoken_sentences, list_texts
from tests.project.tools.module_nodes import list_nodes

ROOT = Path(__file__).parents[2]
RENDER = ROOT / "bot" / "render"
CAPABILITIES = (
    "archive",
    "blocks",
    "contract",
    "conversations",
    "digest",
    "history",
    "operations",
    "previews",
    "profile",
    "review",
    "risk",
    "subscriptions",
    "summaries",
    "touches",
)
MAX_LINES = 300
# modules that hold words of their own, with the reason
ALLOWED = {
    "digest/touch_sentences.py": "the sentences about hits: with them, those of the digest would be too long",
    "digest/report.py": "headings and labels are the format of the file, which other tools read",
    "digest/since_sentences.py": "the sentences of the page since a day, for the same reason",
    "contract/deprecations.py": "each state of a deprecation has its words beside it, in a list and in a terminal",
    "contract/table.py": "its line of totals is a row of the table",
    "operations/forgetting.py": "each sentence is a line in a terminal, which nothing else shows",
    "profile/overview.py": "each heading belongs to the table below it, in a terminal",
    "touches/agent_task.py": "headings and sentences are the text that an agent gets, in their order",
    "touches/evaluation.py": "each heading belongs to the column below it, as in the evaluation of risks",
    "touches/upgrade.py": "headings and labels are the format of the file, which a canvas takes",
    "touches/upgrade_post.py": "its labels are those of that file",
    "risk/evaluation.py": "each heading belongs to the column below it",
    "risk/paired_reading.py": "each row of the table has its name, as in the evaluation",
    "subscriptions/form_context.py": "an error for the log: nobody reads it in Slack",
}
# what is above the messages, and holds no sentence of its own but the messages of errors
SPEAKERS = ("bot/services", "bot/jobs", "bot/feeds.py", "handlers")
# folders and modules there whose sentences nobody reads in a message, or whose place is there, with the reason
EXCEPTIONS = {
    "bot/services/costs/budget.py": "messages of errors, by the limit that is reached",
    "bot/services/operations/deadlines.py": "the message of an error that several modules raise",
    "bot/services/operations/model_tools.py": "a model reads them",
    "bot/services/operations/ownership.py": "the message of an error, which the doctor shows too",
    "bot/services/questions/agent.py": "a model reads them",
    "bot/services/questions/answer_writer.py": "beginnings of answers and of their status",
    "bot/services/questions/tools": "a model reads them",
    "bot/services/review": "a model reads them",
    "bot/services/source": "a model reads them",
    "bot/services/summaries/structured_completion.py": "a model reads them",
    "handlers/commands": "each command declares its help and its first notice with its name",
}
_WORD = re.compile(r"[(\"'*]*[^\W\d_]+(?:'[^\W\d_]+)?[)\"'*.,:;!?…]*")


def find_sentences(source: str) -> list[str]:
    """Return the texts of a module, without docstrings, that have two words or more; ``{}`` stands for a value."""
    texts = (text for _, text in list_texts(list_nodes(source)))
    return [text for text in texts if sum(bool(_WORD.fullmatch(word)) for word in text.split()) > 1]


def list_modules() -> Iterator[tuple[str, str]]:
    """Yield the modules of all capabilities but their sentences: the path below ``bot/render`` and the source."""
    for name in CAPABILITIES:
        for path in sorted((RENDER / name).rglob("*.py")):
            if path.name != "sentences.py":
                yield str(path.relative_to(RENDER)), path.read_text()


def list_speaking_modules() -> Iterator[tuple[str, list[str]]]:
    """Yield each module above the messages with its sentences: the path and the texts."""
    for name in SPEAKERS:
        place = ROOT / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            yield str(path.relative_to(ROOT)), find_spoken_sentences(path.read_text())


def test_each_capability_has_its_sentences() -> None:
    folders = {path.parent.name for path in RENDER.rglob("__init__.py")} - {"render"}
    assert folders == set(CAPABILITIES)
    for name in CAPABILITIES:
        source = (RENDER / name / "sentences.py").read_text()
        assert find_sentences(source)
        assert len(source.splitlines()) <= MAX_LINES


@pytest.mark.slow
def test_no_other_module_holds_a_sentence() -> None:
    sentences = {path: find_sentences(source) for path, source in list_modules()}
    assert len(sentences) > 30
    assert {path: texts for path, texts in sentences.items() if texts and path not in ALLOWED} == {}


def test_what_is_allowed_is_used() -> None:
    sources = dict(list_modules())
    assert [path for path in ALLOWED if not find_sentences(sources[path])] == []


@pytest.mark.slow
def test_what_is_above_the_messages_holds_no_sentence() -> None:
    sentences = {path: texts for path, texts in list_speaking_modules() if texts}
    exceptions = {path: name for path in sentences for name in EXCEPTIONS if path == name or f"{name}/" in path}
    assert {path: texts for path, texts in sentences.items() if path not in exceptions} == {}
    assert set(EXCEPTIONS) == set(exceptions.values())


@pytest.mark.parametrize(
    ("source", "sentences"),
    [
        ('THANKS = "Thanks for that."\nsay(THANKS)', ["Thanks for that."]),
        ('say(f"{count} were merged by {name}. ")', ["{} were merged by {}. "]),
        ('say("Looking at it…", "Now what?", "Write `help me.`")', ["Looking at it…", "Write `help me.`"]),
        ('say("the last try failed")', []),
        ('raise UsageError(f"There is no {name}.")', []),
        ('GONE = "It is {}, and gone."\nraise UsageError(GONE.format(name))', []),
        ('def build() -> UsageError:\n    return UsageError("It is not there.")', []),
        ('class Aborted(PrdigestError): ...\nerror = Aborted("It is not there.")', []),
        ('log.warning("It is not there.")', []),
        ('def look() -> None:\n    """Look for it there."""', []),
    ],
)
def test_a_sentence_above_the_messages_is_seen(source: str, sentences: list[str]) -> None:
    assert find_spoken_sentences(source) == sentences


@pytest.mark.parametrize(
    ("source", "sentences"),
    [
        ('make_text("Nothing stands out.")', ["Nothing stands out."]),
        ('make_text(f"{count} merged by {name}")', ["{} merged by {}"]),
        ('make_text(f" and {rest:,} more")', [" and {} more"]),
        ("make_text(f\"{f'{name} was here' if name else 0}\")", ["{} was here"]),
        ('make_text("It was " "listed")', ["It was listed"]),
        ('"""A module."""\n\n\ndef render() -> None:\n    """Render all of it."""', []),
        ('make_button("details", f"#{number} {title}", "2026-02-28 09:00")', []),
        ('"Europe/Berlin Africa/Nairobi UTC".split()', []),
    ],
)
def test_a_sentence_is_seen(source: str, sentences: list[str]) -> None:
    assert find_sentences(source) == sentences
