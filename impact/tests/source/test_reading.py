import pytest
from bot.platform.cleaning import clean_code
from hypothesis import given
from hypothesis import strategies as st

from impact.source.models import LFS_POINTER_START, MAX_SOURCE_BYTES, SourceProblem
from impact.source.reading import build_source_file

POINTER = f"{LFS_POINTER_START}v1\noid sha256:{'0' * 64}\nsize 12345\n"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"x = 1\n", "x = 1\n"),
        (b"\xef\xbb\xbfx = 1\r\n", "x = 1\r\n"),
        ("größer = '…'\n".encode(), "größer = '…'\n"),
        (b"a\x0cb\x1b[31m\n", "a\x0cb\ufffd[31m\n"),
        (b"x" * MAX_SOURCE_BYTES, "x" * MAX_SOURCE_BYTES),
    ],
    ids=["empty", "plain", "byte order mark", "other alphabets", "controls", "largest"],
)
def test_a_file_has_its_text(data: bytes, text: str) -> None:
    file = build_source_file("a.py", data)
    assert (file.path, file.text, file.problem) == ("a.py", text, None)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"x" * (MAX_SOURCE_BYTES + 1), SourceProblem.TOO_LARGE),
        (b"\x7fELF\0\1", SourceProblem.BINARY),
        (b"x = 1\n" * 10_000 + b"\0", SourceProblem.BINARY),
        (b"%PDF-1.4\n", SourceProblem.BINARY),
        (b"caf\xe9\n", SourceProblem.NOT_UTF8),
        ("\ufeffx = 1\n".encode("utf-16-le"), SourceProblem.NOT_UTF8),
        ("\ufeffx = 1\n".encode("utf-32-be"), SourceProblem.NOT_UTF8),
        (b"\xed\xa0\x80\n", SourceProblem.NOT_UTF8),
        (POINTER.encode(), SourceProblem.LFS_POINTER),
    ],
    ids=[
        "too large",
        "binary",
        "a late NUL",
        "PDF",
        "another encoding",
        "UTF-16",
        "UTF-32",
        "a lone surrogate",
        "a pointer of Git LFS",
    ],
)
def test_what_is_no_source_is_named(data: bytes, problem: SourceProblem) -> None:
    file = build_source_file("a.py", data)
    assert (file.text, file.problem, file.lines) == ("", problem, [])


def test_a_credential_is_taken_out_and_the_lines_stay() -> None:
    file = build_source_file("a.py", f"a = 1\ntoken = '{TOKEN}'\nb = 2\n".encode(), clean_code)
    assert TOKEN not in file.text
    assert (len(file.lines), file.lines[2]) == (3, "b = 2")


@given(st.binary(max_size=300))
def test_any_bytes_are_a_text_or_a_problem(data: bytes) -> None:
    file = build_source_file("a", data)
    assert (file.problem is None) or not file.text
    file.text.encode()


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200))
def test_lines_are_those_that_git_counts(text: str) -> None:
    file = build_source_file("a", text.encode())
    expected = text.removeprefix("\ufeff")
    assert len(file.lines) == expected.count("\n") + (not expected.endswith("\n") and bool(expected))
