import pytest

from tests.helpers.tables import check_rows

ROWS = {"good": ("a", "a"), "bad": ("a", "b"), "worse": ("c", "d")}


def test_each_row_that_fails_is_named_with_what_it_said() -> None:
    @check_rows(ROWS)
    def is_same(one: str, other: str) -> None:
        assert one == other, f"{one} is not {other}"

    with pytest.raises(AssertionError) as caught:
        is_same()
    assert [line.partition(" is not ")[0] for line in str(caught.value).split("\n") if "is not" in line] == [
        "['bad']: AssertionError: a",
        "['worse']: AssertionError: c",
    ]


@pytest.mark.slow
def test_a_row_that_breaks_off_hides_no_other() -> None:
    @check_rows(["1", "x", "y"], [10, 16])
    def is_number(text: str, base: int) -> None:
        int(text, base)

    with pytest.raises(AssertionError) as caught:
        is_number()
    assert str(caught.value).count("ValueError: invalid literal") == 4
    assert "['y', 16]: ValueError: " in str(caught.value)


def test_each_row_is_checked_with_each_further_value() -> None:
    seen = []

    @check_rows({"one": "a", "two": "b"}, [1, 2], ["x"])
    def see(text: str, number: int, sign: str) -> None:
        seen.append((text, number, sign))

    see()
    assert seen == [("a", 1, "x"), ("a", 2, "x"), ("b", 1, "x"), ("b", 2, "x")]
