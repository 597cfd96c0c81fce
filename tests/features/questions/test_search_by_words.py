"""The answer without a model: what a question's own words find."""

from dataclasses import replace

import pytest

from bot.features.merges.view import Entry
from bot.features.questions.rules import MAX_RESULTS, search_by_words
from bot.platform.pulls.models import Account
from tests.helpers.builders import changed_file, entry, summary

SAID = summary(headline="h", what_changed_and_why="w", technical_impact="t", potential_risks="p", key_insights="k")


def make_entry(
    number: int, title: str = "", *, path: str = "x.c", body: str = "", login: str = "ada-dev"
) -> Entry:
    files = (changed_file(path),)
    plain_entry = entry(number, entry_summary=SAID, title=title, body=body, files=files, author=Account(login))
    return replace(plain_entry, area="Area")


KERNEL = make_entry(100, "Fuse the attention kernel")
RETRY = make_entry(101, "Count retries", path="engine/retry.py")
TEXT = make_entry(102, "Clean up", body="It makes the kernel and the scheduler simpler.")
CACHE = make_entry(103, "Paged cache", login="grace")
ALL = (KERNEL, RETRY, TEXT, CACHE)


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("Which touch the KERNEL?", [100, 102]),
        ("scheduler", [102]),
        ("who changed engine/retry.py yesterday?", [101]),
        ("What did grace merge?", [103]),
        ("Tell me about #103", [103]),
        ("is 102 risky for the attention kernel", [102, 100]),
        ("#101, #103: any kernel?", [101, 103, 100, 102]),
        ("what about retries and the cache?", [101, 103]),
        ("attention kernel", [100, 102]),
        ("What changed in the pull requests today?", []),
        ("which of them do you know", []),
        ("is it on?", []),
        ("flux capacitor", []),
        ("", []),
        ("???", []),
        ("#999", []),
        ("9" * 30, []),
    ],
)
def test_words_find_pull_requests(question: str, numbers: list[int]) -> None:
    assert [match.number for match in search_by_words(question, ALL)] == numbers


def test_a_title_says_more_than_a_path_and_a_path_more_than_a_text() -> None:
    by_text, by_path, by_title = make_entry(1, body="moe"), make_entry(2, path="moe/x.py"), make_entry(3, "moe")
    assert search_by_words("moe?", (by_text, by_path, by_title)) == (by_title, by_path, by_text)


def test_a_summary_counts_too() -> None:
    changed_summary = replace(SAID, technical_impact="Latency falls.")
    assert [e.number for e in search_by_words("latency?", (RETRY, replace(KERNEL, summary=changed_summary)))] == [
        100
    ]
    headline = replace(SAID, headline="Latency falls")
    matches = search_by_words(
        "latency?", (replace(KERNEL, summary=changed_summary), replace(RETRY, summary=headline))
    )
    assert [e.number for e in matches] == [101, 100]


def test_among_equals_the_order_of_the_day_is_kept_and_few_are_shown() -> None:
    many = tuple(make_entry(number, "Fuse kernels") for number in range(200, 220))
    assert search_by_words("kernels", many) == many[:MAX_RESULTS]


def test_files_that_could_not_be_loaded_are_no_harm() -> None:
    bare = replace(KERNEL, pull=replace(KERNEL.pull, files=None))
    assert search_by_words("kernel", (bare,)) == (bare,)


def test_a_number_that_was_named_comes_before_all() -> None:
    words = "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike"
    everywhere = make_entry(300, words, path=words.replace(" ", "/"), body=words)
    assert search_by_words(f"#100 {words}", (everywhere, KERNEL))[0] is KERNEL


def test_a_small_repository_has_small_numbers() -> None:
    seven = make_entry(7, "Wait longer")
    assert search_by_words("What about #7?", (seven,)) == (seven,)
