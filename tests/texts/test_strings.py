import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.text import format_count
from impact.text.strings import collapse_lines, remove_comments, truncate_text

# letters, and what is none: line breaks, blanks, controls, bidirectional overrides, zero-width characters
odd = st.sampled_from(list("ab \t\n\r\f\v\0\x1b\x85\u2028\u2029\u202e\u2066\u200b\u200c\u200d\ufeff\xa0\xad😀"))
texts = st.text(max_size=60) | st.lists(odd, max_size=30).map("".join)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("plain", "plain"),
        ("  two \t words \n", "two words"),
        ("one\r\ntwo\u2028three\x85four", "one two three four"),
        ("evil\u202egnp.exe", "evilgnp.exe"),
        ("\x1b[31mred", "[31mred"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("family 👨\u200d👩\u200d👧", "family 👨\u200d👩\u200d👧"),
        ("\0\0", ""),
        (" \n ", ""),
        ("", ""),
    ],
    ids=ascii,
)
def test_a_text_is_put_on_one_line(text: str, line: str) -> None:
    assert collapse_lines(text) == line


@given(texts)
def test_one_line_holds_no_line_break_and_no_invisible_sign(text: str) -> None:
    line = collapse_lines(text)
    assert len(line.splitlines()) <= 1
    assert not {unicodedata.category(char) for char in line} & {"Cc", "Co", "Cs", "Zl", "Zp"}
    assert [char for char in line if unicodedata.category(char) == "Cf" and char not in "\u200c\u200d"] == []


@given(texts)
def test_one_line_keeps_every_visible_sign_in_order(text: str) -> None:
    def visible(value: str) -> list[str]:
        return [char for char in value if unicodedata.category(char)[0] in "LMNPS"]

    assert visible(collapse_lines(text)) == visible(text)


@given(texts)
@example("a \u200b b")
@example("\u200b a")
def test_every_run_of_white_space_is_one_blank(text: str) -> None:
    line = collapse_lines(text)
    assert "  " not in line
    assert line == line.strip()


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("three words here", 12, "three words…"),
        ("three words here", 13, "three words…"),
        ("a verylongwordthatfills", 12, "a verylongw…"),
        ("ends at a blank", 8, "ends…"),
        ("", 1, ""),
        ("ab", 1, "…"),
    ],
)
def test_a_text_is_cut_at_a_blank_where_there_is_one(text: str, limit: int, cut: str) -> None:
    assert truncate_text(text, limit) == cut


@given(texts, st.integers(1, 80))
def test_a_shortened_text_is_never_longer_than_asked(text: str, limit: int) -> None:
    cut = truncate_text(text, limit)
    assert len(cut) <= limit
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))


@given(texts, st.integers(1, 80))
def test_shortening_twice_is_shortening_once(text: str, limit: int) -> None:
    assert truncate_text(truncate_text(text, limit), limit) == truncate_text(text, limit)


@given(st.lists(st.text("ab", min_size=1, max_size=8), min_size=1, max_size=20).map(" ".join), st.integers(20, 60))
def test_at_least_half_is_kept(text: str, limit: int) -> None:
    assert len(truncate_text(text, limit)) >= min(len(text), limit // 2)


@pytest.mark.parametrize(
    ("count", "words", "phrase"),
    [
        (0, ("file",), "0 files"),
        (1, ("file",), "1 file"),
        (2, ("file",), "2 files"),
        (1_234_567, ("line",), "1,234,567 lines"),
        (1, ("entry", "entries"), "1 entry"),
        (3, ("entry", "entries"), "3 entries"),
    ],
)
def test_one_or_many(count: int, words: tuple[str, ...], phrase: str) -> None:
    assert format_count(count, *words) == phrase


@pytest.mark.parametrize(
    ("markdown", "rest"),
    [
        ("before <!-- hint --> after", "before  after"),
        ("<!-- one --><!-- two -->text", "text"),
        ("<!--\nmany\nlines\n-->\ntext", "\ntext"),
        ("text <!-- never closed", "text "),
        ("<!-- a <!-- b --> c -->", " c -->"),
        ("a --> b", "a --> b"),
        ("<!-->text-->", ""),
        ("plain", "plain"),
    ],
)
def test_html_comments_are_dropped(markdown: str, rest: str) -> None:
    assert remove_comments(markdown) == rest


@given(st.lists(st.sampled_from(["<!--", "-->", "-", "<", "text", "\n"]), max_size=12).map("".join))
def test_no_comment_is_left_whole(markdown: str) -> None:
    rest = remove_comments(markdown)
    assert "<!--" not in rest or "-->" not in rest.split("<!--", 1)[1]
