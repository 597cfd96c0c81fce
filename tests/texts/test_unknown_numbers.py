"""Numbers that are not of the day disappear from what a model wrote."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.text import remove_unknown_numbers
from tests.helpers.tables import check_rows

KNOWN = frozenset({1, 12})


@check_rows(
    [
        ("Nothing to see.", "Nothing to see."),
        ("See #1 and #12.", "See #1 and #12."),
        ("Two  blanks stay where nothing goes (#1)", "Two  blanks stay where nothing goes (#1)"),
        ("Counting (#1, #2) changed.", "Counting (#1) changed."),
        ("Counting (#2, #1) changed.", "Counting (#1) changed."),
        ("Counting (#2, #3) changed.", "Counting changed."),
        ("Counting (#2; #1; #3) changed.", "Counting (#1) changed."),
        ("Counting (PR #2) changed.", "Counting changed."),
        ("Counting (PRs #2 and #3) changed.", "Counting changed."),
        ("Counting (pull requests #2, #3 and #4), too.", "Counting, too."),
        ("Counting changed (#2).", "Counting changed."),
        ("It follows #2.", "It follows."),
        ("#2 starts it", "starts it"),
        ("In the middle #2 of it", "In the middle of it"),
        ("#123 is not #12", "is not #12"),
        ("#12abc is a colour", "#12abc is a colour"),
        ("C# is a language", "C# is a language"),
        ("Counting (#2, #3, #1) changed.", "Counting (#1) changed."),
        ("Counting (PRs #2 and #1) changed.", "Counting (PRs #1) changed."),
        ("Counting (#1 and #2) changed.", "Counting (#1) changed."),
        ("First #1, #2, #12 then", "First #1, #12 then"),
        ("Call free() after #2.", "Call free() after."),
        ("The call `free()` (#2) moved.", "The call `free()` moved."),
    ]
)
def test_foreign_numbers_go_and_the_text_stays_tidy(text: str, kept: str) -> None:
    assert remove_unknown_numbers(text, KNOWN) == kept


def test_a_number_of_another_repository_stays_as_it_is() -> None:
    assert remove_unknown_numbers("Needs pytorch/pytorch#2 and #3.", KNOWN) == "Needs pytorch/pytorch#2 and."


pieces = st.sampled_from(
    [
        "#1 ",
        "#2, ",
        "#12; ",
        "#99) ",
        "(#2 ",
        "(#1) ",
        " ",
        "(",
        ") ",
        "and ",
        "PR ",
        "word ",
        "`x()` ",
        "# ",
        "\n",
    ]
)


@given(st.lists(pieces, max_size=20).map("".join), st.frozensets(st.sampled_from([1, 2, 12, 99])))
def test_no_foreign_number_is_left_and_no_known_one_is_lost(text: str, known: frozenset[int]) -> None:
    def numbers(value: str) -> list[int]:
        return [int(number) for number in re.findall(r"#(\d+)\b", value)]

    left = numbers(remove_unknown_numbers(text, known))
    assert left == [number for number in numbers(text) if number in known]


@given(st.text(max_size=60), st.frozensets(st.integers(0, 20)))
def test_a_text_without_numbers_is_left_alone(text: str, known: frozenset[int]) -> None:
    if "#" not in text:
        assert remove_unknown_numbers(text, known) == text
