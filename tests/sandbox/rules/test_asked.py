"""What a question asks for, by its words."""

from __future__ import annotations

import time

import pytest

from bot.sandbox.rules.asked import Kind, asked

KINDS = {
    "is it safe to upgrade?": Kind.BREAKS,
    "is it safe?": Kind.RISKIEST,
    "what's dangerous here?": Kind.RISKIEST,
    "who are the top authors?": Kind.AUTHORS,
    "list everything": Kind.DAY,
    "what was rolled back?": Kind.BACK,
    "anything untested?": Kind.UNTESTED,
}


@pytest.mark.parametrize(("question", "kind"), KINDS.items(), ids=KINDS)
def test_what_is_wanted_is_told_by_words(question: str, kind: Kind) -> None:
    assert asked([question], "", ()).kind is kind


@pytest.mark.parametrize("text", ["in 0.17", "of 2026", "SM90", "fp8_35441x", "1,000"])
def test_other_numbers_are_no_pull_requests(text: str) -> None:
    assert asked([f"what changed {text}?"], "", ()).numbers == ()


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
    assert [topic.words for topic in asked([question], "", ()).topics] == words


THREADS: dict[str, tuple[list[str], str, tuple[int, ...], tuple[int, ...]]] = {
    "them": (["x", "which of them?"], "#7 and #8", (), (7, 8)),
    "them, of nothing": (["which of them?"], "", (), ()),
    "it, of the last question": (["why #35441?", "who wrote it?"], "#35441 and #8", (), (35441,)),
    "it, of the last answer": (["x", "who wrote it?"], "#7 and #8", (), (7,)),
    "it, of the thread": (["x", "who wrote it?"], "#7", (5,), (5,)),
    "its own": (["and #9?"], "#7", (5,), (9,)),
    "all": (["who merged the most?"], "#7", (5,), ()),
    "all that is about a word": (["anything on LoRA?"], "#7", (5,), ()),
}


@pytest.mark.parametrize(("questions", "answer", "subject", "meant"), THREADS.values(), ids=THREADS)
def test_what_is_meant_is_what_was_spoken_of(
    questions: list[str], answer: str, subject: tuple[int, ...], meant: tuple[int, ...]
) -> None:
    assert asked(questions, answer, subject).numbers == meant


@pytest.mark.parametrize("text", ["a.", "#1", "a-/", "://", "x://a", "and "])
def test_a_very_long_question_is_read_at_once(text: str) -> None:
    began = time.process_time()
    asked([text * 100_000], text * 2_000, ())
    assert time.process_time() - began < 0.5
