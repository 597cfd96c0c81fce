"""``python -m evals`` against a scripted model: right answers pass, wrong ones are found out."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.errors import UsageError
from bot.features.questions.view import AnswerInputs, NumberedCitation
from evals.answers import Case, Suite, load_suite, mark_answer
from tests.emulators.claude.server import Step, Text, ToolUse, default_answer
from tests.helpers.builders import SHARED, needs_shared
from tests.helpers.processes.command import ROOT, Caught, Start, start_interpreter, started
from tests.helpers.world import World, add_small_day, replay, world

pytestmark = pytest.mark.slow

QUESTIONS = """
repository = "octo/engine"
date = "2026-02-28"
timezone = "America/Los_Angeles"

[[thread]]
[[thread.question]]
ask = "How many retries are there now?"
names = [102]
facts = ["retries"]
cites = [102]
[[thread.question]]
ask = "And before?"
facts = ["nothing|no retries"]
"""
RIGHT = '<answer>#102 sets retries.<cite pr="102" path="engine/retry.py">retries = 102</cite></answer>'
WRONG = '<answer>#103 does.<cite pr="103" path="engine/retry.py">retries = 999</cite></answer>'


def evals(there: World, folder: Path, *arguments: str, start: Start = started) -> subprocess.CompletedProcess[str]:
    settings = {**there.settings, "PRDIGEST_STATE_DIR": str(folder), "REDIS_URL": ""}
    return Caught(*arguments, settings=settings, folder=ROOT, module="evals", start=start).await_end()


def answering(*answers: str) -> Any:
    """Claude looks something up first, then gives these, one for each question."""
    left = list(answers)

    def respond(body: dict[str, Any]) -> Step:
        if not body.get("tools"):
            return default_answer(body)
        is_answered = "tool_result" in json.dumps(body["messages"][-1])
        return Text(left.pop(0)) if is_answered else ToolUse("search", {"any_of": ["retries"]})

    return respond


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.toml"
    file.write_text(QUESTIONS)
    return file


class TestAsProcess:
    def test_right_answers_pass_and_wrong_ones_are_found_out(self, questions: Path, tmp_path: Path) -> None:
        with world("") as there:
            add_small_day(there.github)
            there.claude.respond = answering(RIGHT, "<answer>There were no retries.</answer>")
            passed = evals(there, tmp_path, str(questions))
            assert passed.returncode == 0, passed.stderr
            assert "ok   facts 100%  citations   1/1  $0." in passed.stdout
            assert "2 questions: facts 100%, citations that hold 100%, $0." in passed.stdout
            there.claude.respond = answering(WRONG, "<answer>Twelve.</answer>")
            failed = evals(there, tmp_path, str(questions), "--json")
        assert failed.returncode == 1
        first, second = map(json.loads, failed.stdout.splitlines())
        assert first["missing"] == [
            "does not name #102",
            "names #103 too",
            "does not say 'retries'",
            "cites nothing of #102",
        ]
        assert (first["held"], first["failed"], first["rounds"]) == (0, 1, 2)
        assert second["missing"] == ["does not say 'nothing|no retries'"]

    def test_without_a_key_there_is_nothing_to_judge(self, questions: Path, tmp_path: Path) -> None:
        """By the command line itself."""
        with world("") as there:
            keyless = replace(there, settings={**there.settings, "ANTHROPIC_API_KEY": ""})
            ended = evals(keyless, tmp_path, str(questions), start=start_interpreter)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert "Set ANTHROPIC_API_KEY" in ended.stderr


@needs_shared
@pytest.mark.parametrize("file", sorted((ROOT / "evals" / "questions").glob("*.toml")), ids=lambda file: file.stem)
def test_the_projects_questions_speak_of_what_was_merged(file: Path) -> None:
    suite = load_suite(file)
    with world("") as there:
        merged = {record["number"] for record in replay(there.github, SHARED, suite.date)}
    asked = [case for thread in suite.thread for case in thread.question]
    assert {number for case in asked for number in (*case.names, *case.cites)} <= merged


NOTHING = AnswerInputs(question="?")


class TestMarks:
    @pytest.mark.parametrize(
        ("fields", "answer", "missing"),
        [
            pytest.param({"names": (1, 2)}, "#1 and #2.", (), id="all-named"),
            pytest.param({"names": (1,)}, "[#1](https://x/pull/1) alone", (), id="named-by-a-link"),
            pytest.param({"names": (1,)}, "#1 and octo/other#5", (), id="elsewhere-does-not-count"),
            pytest.param({"names": (1, 2)}, "#1", ("does not name #2",), id="one-missing"),
            pytest.param({"names": (1,)}, "#1, #3", ("names #3 too",), id="one-too-many"),
            pytest.param({"names": (1,), "exactly": False}, "#1, #3", (), id="more-are-fine"),
            pytest.param({"facts": ("five|5",)}, "Five.", (), id="fact"),
            pytest.param({"never": ("helm",)}, "the Helm chart", ("says 'helm'",), id="never"),
            pytest.param({"cites": (7,)}, "x", ("cites nothing of #7",), id="uncited"),
        ],
    )
    def test_what_is_wrong_is_said(self, fields: dict[str, Any], answer: str, missing: tuple[str, ...]) -> None:
        assert mark_answer(Case(ask="?", **fields), answer, NOTHING, 0.0, 0.0).missing == missing

    def test_a_quote_in_the_right_pull_request_counts(self) -> None:
        inputs = replace(NOTHING, citations=(NumberedCitation("#7", "a.py", "x = 1", number=7),))
        mark = mark_answer(Case(ask="?", cites=(7,)), "x", inputs, 0.0, 0.0)
        assert (mark.missing, mark.facts, mark.held) == ((), 1.0, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("thread = [", "can't be read as TOML", id="no-toml"),
        pytest.param('date = "2026-02-28"', "repository can't be used", id="no-repository"),
        pytest.param(
            QUESTIONS.replace("names", "name"), "thread.0.question.0.name can't be used", id="unknown-field"
        ),
        pytest.param(QUESTIONS.replace('"retries"', '"("'), "it is no pattern", id="no-pattern"),
        pytest.param(QUESTIONS.replace("2026-02-28", "28.2.2026"), "is not a date", id="no-date"),
    ],
)
def test_a_file_that_can_not_be_used_is_refused_in_a_sentence(text: str, message: str, questions: Path) -> None:
    questions.write_text(text)
    with pytest.raises(UsageError, match=message):
        load_suite(questions)


def test_a_file_is_read_as_it_stands(questions: Path) -> None:
    suite = load_suite(questions)
    assert isinstance(suite, Suite)
    assert [len(thread.question) for thread in suite.thread] == [2]
    assert str(suite) == "octo/engine 2026-02-28"
