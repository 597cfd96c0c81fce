"""Which written answer a question finds: paraphrases theirs, and foreign questions none (``likeness.toml``).

The bound of likeness stands between both.
"""

import time
import tomllib
from pathlib import Path

import pytest

from bot.demo.stand_in import MIN_LIKENESS, Asked, Match, load_answers

TABLES = tomllib.loads(Path(__file__).with_name("likeness.toml").read_text(encoding="utf-8"))


def list_cases(name: str) -> list[tuple[str, str]]:
    return [(question, ask) for ask, questions in TABLES[name].items() for question in questions]


def find_best(question: str, *, has_profile: bool = False) -> Match:
    book = load_answers()
    matches = book.find_matches(book.read(question), has_profile=has_profile)
    return max(matches, key=lambda match: match.rank(book.guess_language(question)))


@pytest.mark.parametrize(("question", "ask"), list_cases("paraphrases"))
def test_a_paraphrase_finds_its_answer(question: str, ask: str) -> None:
    best = find_best(question)
    assert (best.answer.asks[0], best.likeness >= MIN_LIKENESS) == (ask, True), best.likeness


@pytest.mark.parametrize("question", TABLES["foreign"])
def test_a_foreign_question_finds_none(question: str) -> None:
    best = find_best(question)
    assert best.likeness < MIN_LIKENESS, best.answer.asks[0]


@pytest.mark.parametrize(("question", "ask"), list_cases("team"))
def test_in_a_thread_about_a_team_its_code_is_meant(question: str, ask: str) -> None:
    best = find_best(question, has_profile=True)
    assert (best.answer.asks[0], best.likeness >= MIN_LIKENESS) == (ask, True), best.likeness


@pytest.mark.parametrize("has_profile", [False, True])
def test_each_question_of_an_answer_finds_it(*, has_profile: bool) -> None:
    asks = [
        (ask, find_best(ask.replace("#N", "#35405"), has_profile=has_profile).answer, answer)
        for answer in load_answers().answers
        for ask in answer.asks
        if answer.profile in (None, has_profile)
    ]
    assert len(asks) > 700
    # what is about the team comes before what is about all
    assert [ask for ask, best, answer in asks if best is not answer and best.profile is not True] == []


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("what does #35617 do?", (35617,)),
        ("and 35617?", (35617,)),
        ("what does https://github.com/vllm-project/vllm/pull/35617 do?", (35617,)),
        ("what is in 0.17, on SM90, in 2026?", ()),
        ("compare #1 and #2", (1, 2)),
    ],
)
def test_pull_requests_are_named_by_number_or_address(question: str, numbers: tuple[int, ...]) -> None:
    assert load_answers().read(question).numbers == numbers


def test_what_says_nothing_is_left_out_unless_there_is_nothing_else() -> None:
    book = load_answers()
    assert book.read("So please, which of these PRs touch LoRA?") == Asked(frozenset({"lora"}))
    assert book.read("anything new?").words == {"anything", "new"}
    assert book.read("which don't break?").is_negated


@pytest.mark.parametrize(
    "text", ["a.", "#1 ", "x://a", "和", "LoRA ", "the second ", "#" + "9" * 5_000, "([{*+?^$|\\"]
)
def test_a_very_long_question_is_read_at_once(text: str) -> None:
    began = time.process_time()
    find_best(text * (100_000 // len(text)))
    assert time.process_time() - began < 0.5
