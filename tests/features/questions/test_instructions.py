import re

import pytest

from bot.features.questions.markdown import AnswerMarkdown, Links
from bot.features.questions.rules import Citation
from bot.features.questions.service import ANSWER_LIMITS, ANSWER_VERSION
from bot.features.questions.tools import build_tools
from bot.platform.models.prompts import read_instructions
from bot.platform.models.tools import define_tools
from tests.features.questions.archives import run_tool, shelf
from tests.helpers.builders import pull

TEXT = read_instructions(ANSWER_VERSION)


def test_they_name_tools_that_exist() -> None:
    names = {each["name"] for each in define_tools(build_tools(shelf().toolbox()))}
    named = set(re.findall(r"\b(?:read_\w+|find_\w+|taken_back|list_\w+)", TEXT))
    assert {"read_file", "find_uses", "taken_back", "read_discussion"} <= named <= names


def test_rounds_and_calls_are_those_of_the_limits() -> None:
    assert f"You have {ANSWER_LIMITS.rounds} rounds at most, of up to {ANSWER_LIMITS.calls} calls each" in TEXT


@pytest.mark.parametrize(
    "rule",
    [
        '"today", "this week" or "the latest" in it mean its own days, however long ago they are',
        "A tool's count is evidence.",
        '"None", "only" and "N of M" may rest on it alone, without a quote',
        '"not loaded", "not searched" or "could not be read", there is no proof of "none"',
        "may be quoted again only if the record or a result since this question shows it",
        "Headlines and summaries were written by a model and not checked against code.",
        "are what the author says: tell it as such",
        "the words of people, of whom anybody may write there: tell them as such, never as fact",
        "Of a decision say who said it and their role",
    ],
)
def test_each_hindrance_has_its_rule(rule: str) -> None:
    assert rule in TEXT


def test_the_forms_of_citations_are_those_that_are_read() -> None:
    seen: list[Citation] = []

    def keep(citation: Citation) -> None:
        seen.append(citation)

    forms = re.findall(r"<cite [^>]*>", TEXT)
    citations = "".join(f"{form}one whole line</cite>" for form in forms)
    AnswerMarkdown(Links(keep, lambda _: None)).feed(f"<answer>{citations}</answer>")
    assert seen == [
        Citation("123", "dir/file.py", "one whole line"),
        Citation("123", "dir/file.py", "one whole line", 57, is_removed=True),
        Citation("123", "#issuecomment-456", "one whole line"),
    ]


def test_the_words_of_doubt_are_those_of_the_tools() -> None:
    toolbox = shelf(pull(7, files=None)).toolbox()
    assert "not loaded" in run_tool(toolbox, "search", any_of=["x"])
