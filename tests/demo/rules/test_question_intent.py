"""What a question asks for, by its words."""

from __future__ import annotations

import datetime as dt
import time

import pytest

from bot.demo.rules.question_intent import QuestionKind, parse_question

KINDS = {
    "is it safe to upgrade?": QuestionKind.BREAKS,
    "is it safe?": QuestionKind.RISKIEST,
    "what's dangerous here?": QuestionKind.RISKIEST,
    "who are the top authors?": QuestionKind.AUTHORS,
    "list everything": QuestionKind.DAY,
    "what was rolled back?": QuestionKind.REVERTS,
    "anything untested?": QuestionKind.UNTESTED,
    "which come with tests?": QuestionKind.UNTESTED,
    "what do we need to change?": QuestionKind.BREAKS,
    "which can I ignore?": QuestionKind.TRIVIAL,
    "what should we review first?": QuestionKind.RISKIEST,
    "who reverted it?": QuestionKind.REVERTS,
    "new flags?": QuestionKind.FLAGS,
    "which touch the --dtype flag?": QuestionKind.TOPIC,
    "is the image rebuilt?": QuestionKind.FILE_GROUP,
    "what changed in image handling?": QuestionKind.TOPIC,
    "what?": QuestionKind.UNCLEAR,
    "when is the next release?": QuestionKind.DECLINED,
    "what may break in the next release?": QuestionKind.BREAKS,
}


@pytest.mark.parametrize(("question", "kind"), KINDS.items(), ids=KINDS)
def test_what_is_wanted_is_told_by_words(question: str, kind: QuestionKind) -> None:
    assert parse_question([question], [], ()).kind is kind


@pytest.mark.parametrize("text", ["in 0.17", "of 2026", "SM90", "fp8_35441x", "1,000"])
def test_other_numbers_are_no_pull_requests(text: str) -> None:
    assert parse_question([f"what changed {text}?"], [], ()).numbers == ()


TOPICS = {
    "which of these touch ROCm?": [("rocm", "amd")],
    "what changed in the plugins, for images?": [("plugin",), ("image",)],
    "did vllm/v1/Core change?": [("vllm/v1/Core",)],
    "look at https://evil.example/LoRA about KV": [("kv",)],
    "the AMD thing, DeepGEMM, sampling and more": [("deepgemm",), ("amd", "rocm"), ("sampling",)],
    "what is risky for users?": [],
}


@pytest.mark.parametrize(("question", "words"), TOPICS.items(), ids=TOPICS)
def test_its_own_words_are_looked_for_the_most_telling_first(question: str, words: list[tuple[str, ...]]) -> None:
    assert [topic.words for topic in parse_question([question], [], ()).topics] == words


LIST = "**3 match:**\n\n- #7 Waits, unlike #1.\n- #8 x\n- #9 x\n\nOnly in a path: #10."
THREADS: dict[str, tuple[list[str], str, tuple[int, ...], tuple[int, ...]]] = {
    "them": (["x", "which of them?"], "#7 and #8", (), (7, 8)),
    "them, of nothing": (["which of them?"], "", (), ()),
    "it, of the last question": (["why #35441?", "who wrote it?"], "#35441 and #8", (), (35441,)),
    "it, of the last answer": (["x", "who wrote it?"], "**#7: Waits.** Unlike #8.", (), (7,)),
    "it, of several": (["x", "who wrote it?"], "#7 and #8", (), (7,)),
    "it, of a list": (["x", "is it risky?"], LIST, (), ()),
    "that one, of a list": (["x", "who wrote that one?"], LIST, (), ()),
    "it that stands for nothing": (["x", "is it safe to upgrade?"], LIST, (), ()),
    "the second, short": (["x", "second?"], LIST, (), (8,)),
    "the second, by its place": (["x", "#2?"], LIST, (), (8,)),
    "the third, by its place": (["x", "tell me about number 3"], LIST, (), (9,)),
    "a digit alone": (["x", "2"], LIST, (), (8,)),
    "a number that is listed": (["x", "what about #8?"], LIST, (), (8,)),
    "a place of no list": (["what does #2 do?"], "", (), (2,)),
    "two of them": (["x", "compare the first with the third"], LIST, (), (7, 9)),
    "one of two too many": (["x", "compare the first and the fifth"], LIST, (), ()),
    "the second": (["x", "and the second one?"], LIST, (), (8,)),
    "the last, though others are named below": (["x", "tell me about the last one"], LIST, (), (9,)),
    "the first two": (["x", "the first two?"], LIST, (), (7, 8)),
    "alone at the end": (["x", "and the third?"], LIST, (), (9,)),
    "number of a thread": (["the second one?"], "", (5, 6), (6,)),
    "one too many": (["x", "the fifth one?"], LIST, (), ()),
    "of no list": (["the second one?"], "", (), ()),
    "the first thing": (["x", "what is the first thing to do?"], LIST, (), ()),
    "which one": (["x", "which one is risky?"], LIST, (), (7, 8, 9)),
    "which one, of no list": (["x", "which one is risky?"], "#7 and #8", (), ()),
    "that one": (["x", "is that one risky?"], "**#7: Waits.**", (), (7,)),
    "why": (["x", "why?"], "**#7: Waits.**", (), (7,)),
    "it, of the thread": (["x", "who wrote it?"], "#7", (5,), (5,)),
    "its own": (["and #9?"], "#7", (5,), (9,)),
    "all": (["who merged the most?"], "#7", (5,), ()),
    "all that is about a word": (["anything on LoRA?"], "#7", (5,), ()),
}


@pytest.mark.parametrize(("questions", "answer", "subject", "meant"), THREADS.values(), ids=THREADS)
def test_what_is_meant_is_what_was_spoken_of(
    questions: list[str], answer: str, subject: tuple[int, ...], meant: tuple[int, ...]
) -> None:
    assert parse_question(questions, [answer], subject).numbers == meant


def test_the_neighbour_in_a_list_is_that_of_the_last_answer() -> None:
    meant = {
        question: parse_question(["x", "and the second one?", question], [LIST, "**#8: x.**"], ()).numbers
        for question in (
            "and the next one?",
            "the next",
            "the previous one?",
            "and the one before?",
            "the one after it?",
        )
    }
    assert list(meant.values()) == [(9,), (9,), (7,), (7,), (9,)], meant
    # after the list itself there is no neighbour, nor after its end
    assert parse_question(["x", "and the next one?"], [LIST], ()).kind is QuestionKind.UNRESOLVED
    assert parse_question(["x", "y", "and the next?"], [LIST, "**#9: x.**"], ()).kind is QuestionKind.UNRESOLVED


def test_the_list_before_the_last_answer_is_meant_where_that_was_about_one() -> None:
    questions = ["x", "and the second one?", "and the third?"]
    assert parse_question(questions, [LIST, "**#8: x.** Unlike #8."], ()).numbers == (9,)


@pytest.mark.parametrize("question", ["the fifth one?", "both?"])
def test_what_is_not_in_the_list_is_told_with_what_is(question: str) -> None:
    intent = parse_question(["x", question], [LIST], ())
    assert (intent.kind, intent.reason) == (
        QuestionKind.UNRESOLVED,
        "The last list has 3: #7, #8, #9. Name one by its number.",
    )


@pytest.mark.parametrize(
    "text",
    [
        "a.",
        "#1",
        "a-/",
        "://",
        "x://a",
        "and ",
        "the second ",
        "please ",
        "last 3 days ",
        "what time ",
        "how is risk ",
    ],
)
def test_a_very_long_question_is_read_at_once(text: str) -> None:
    began = time.process_time()
    parse_question([text * 100_000], [text * 2_000], (), dt.date(2026, 3, 1))
    assert time.process_time() - began < 0.5
