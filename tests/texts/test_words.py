import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text import SentenceIndex, add_condition, keep_sentences, normalize_sentence, truncate_words

LIMITS = st.integers(1, 20)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("one two three", 3, "one two three"),
        ("one two, three", 2, "one two…"),
        ("one two", 0, "one…"),
        ("", 3, ""),
    ],
)
def test_words_beyond_the_limit_are_cut(text: str, limit: int, expected: str) -> None:
    assert truncate_words(text, limit) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("One two. Three four.", 4, "One two. Three four."),
        ("One two. Three four.", 3, "One two."),
        ("One two three. Four.", 2, ""),
        ("Version 1.2 counts. Really? Yes! So it is.", 6, "Version 1.2 counts. Really? Yes!"),
    ],
)
def test_sentences_are_whole(text: str, limit: int, expected: str) -> None:
    assert keep_sentences(text, limit) == expected


@pytest.mark.parametrize(
    ("claim", "condition", "expected"),
    [
        ("Hits are counted", "Only with `--x`", "Hits are counted, only with `--x`"),
        ("You must set Y.", "Behind `X`, off by default.", "You must set Y, behind `X`, off by default."),
        ("A new path", "ROCm only", "A new path, ROCm only"),
        ("Hits are counted fast", "only with `--fast`", "Hits are counted fast, only with `--fast`"),
        # said already, in other words
        ("With --fast-path, hits are counted", "only with `--fast-path`", "With --fast-path, hits are counted"),
        ("ROCm kernels are faster", "only on ROCm", "ROCm kernels are faster"),
        # of which sentence would it be?
        ("Set Y. It was 3.", "only on ROCm", "Only on ROCm: Set Y. It was 3."),
        # what was cut stays so, and has no place in a lead
        ("Hits are…", "only on ROCm", "Only on ROCm: Hits are…"),
        ("Hits are counted.", "only on ROCm with…", "Hits are counted, only on ROCm with…"),
        ("Hits are counted", "", "Hits are counted"),
        ("Hits are counted", " . ", "Hits are counted"),
        ("", "only on ROCm", ""),
    ],
)
def test_a_condition_stands_with_its_claim_once(claim: str, condition: str, expected: str) -> None:
    assert add_condition(claim, condition) == expected
    assert add_condition(expected, condition) == expected


@given(st.text(alphabet="ab .!?…\n", max_size=80), LIMITS)
def test_no_text_has_more_words_than_its_limit(text: str, limit: int) -> None:
    assert len(truncate_words(text, limit).split()) <= limit
    assert len(keep_sentences(text, limit).split()) <= limit


TEXT = "A busy day. Callers of `count_all` get a TypeError (#5); all else is calm. Set the flag."


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Callers of count_all get a TypeError.", True),
        ("callers of `count_all` get a typeerror", True),
        ("Set the flag", True),
        ("the flag", False),
        ("allers of count_all get a TypeError", False),
        ("Callers of count_all get a ValueError", False),
        ("", False),
        ("…", False),
    ],
)
def test_what_is_said_word_for_word_is_known(sentence: str, *, expected: bool) -> None:
    assert SentenceIndex.build(TEXT).has_words(normalize_sentence(sentence)) is expected


@given(st.text(max_size=60))
def test_a_text_repeats_itself_if_it_has_words(text: str) -> None:
    words = normalize_sentence(text)
    assert SentenceIndex.build(text).has_words(words) is bool(words) or len(words.split()) < 4
