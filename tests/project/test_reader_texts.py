from collections import Counter

import pytest

from tests.project.tools.reader_texts import Sentence, find_prose, list_sentences, split_markdown, split_sentences

MAX_WORDS = 30


@pytest.mark.slow
def test_no_sentence_is_long() -> None:
    sentences = list_sentences()
    places = Counter(sentence.place.partition("/")[0].partition(" ")[0] for sentence in sentences)
    for place in (
        "README.md",
        "docs",
        "bot",
        "handlers",
        "impact",
        "localslack",
        "prdigest",
        "manifest.json",
        "PORT",
    ):
        assert places[place], place
    assert [f"{each.words} words: {each.place}: {each.text}" for each in sentences if each.words > MAX_WORDS] == []


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two? Three! four", ["One.", "Two?", "Three! four"]),
        ("Run it.\n`prdigest doctor` helps.", ["Run it.", "`prdigest doctor` helps."]),
        ("A heading\n\nand more", ["A heading", "and more"]),
        ('He said "so." Then 3.5 h.', ['He said "so.', "Then 3.5 h."]),
    ],
)
def test_a_text_is_split_at_the_ends_of_its_sentences(text: str, sentences: list[str]) -> None:
    assert [each.text for each in split_sentences("", text)] == sentences


@pytest.mark.parametrize(
    ("text", "words"),
    [("Run `uv run prdigest doctor` now", 3), ("{} of {count} … merged", 4), ("owner/name, 95% …", 2)],
)
def test_code_and_values_are_one_word(text: str, words: int) -> None:
    assert Sentence("", text).words == words


def test_a_document_is_read_without_code_links_and_tables() -> None:
    beginning, table = "# Title\n\nSee [the page](docs/page.md)\nfor more.\n", "| a | b |\n|---|---|\n"
    text = f"{beginning}\n```\ncode\n```\n- one\n  line\n- two\n\n{table}"
    texts = [" ".join(each.split()) for each in split_markdown(text) if each.strip(" -")]
    assert texts == ["Title", "See the page for more.", "one line", "two", "a", "b"]


def test_prose_is_found_among_literals() -> None:
    source = [
        "'No prose here.'",
        'x = f"{n} were read"',
        'y = "one two three".split()',
        're.compile("is it")',
        '"word"',
    ]
    assert list(find_prose("\n".join(source))) == ["{} were read"]
