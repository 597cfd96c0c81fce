"""Titles and descriptions that somebody wrote to hurt the bot cost it no more time than others."""

from collections.abc import Callable

import pytest

from bot.features.merges.outcomes import RevertIndex, find_relands
from bot.features.merges.risk import assess_pull_request
from bot.features.merges.summary import build_fallback_summary
from bot.platform.models.packing import Coverage
from bot.text import remove_unknown_numbers
from impact.history.outcomes import find_outcomes, find_repairs
from impact.history.reverts import is_revert
from impact.text.strings import collapse_lines, remove_comments
from tests.helpers.builders import NOON, failed, pull
from tests.helpers.checks import measure_seconds
from tests.helpers.tables import check_rows

TITLE, BODY = 256, 65_536  # GitHub's limits


def takes_less(limit: float, work: Callable[[], object]) -> bool:
    """Of the processor's time, at one of three times: others may be in the way even so."""
    return any(measure_seconds(work) < limit for _ in range(3))


@pytest.mark.parametrize("work", [is_revert, assess_pull_request], ids=["is_revert", "assess"])
def test_a_title_of_empty_tags_is_read_at_once(work: Callable[[object], object]) -> None:
    title = "[]" * 20 + "x"  # 41 of 256 characters; each further pair doubles the time
    assert takes_less(0.05, lambda: work(pull(title=title)))


def test_a_description_of_blank_lines_is_read_at_once() -> None:
    body = "\n" * 6_000  # of 65,536 characters: at the limit it takes a hundred times as long
    assert takes_less(0.1, lambda: RevertIndex([pull(body=body)]).reverts)


@pytest.mark.parametrize("phrase", ["Reverts #{}", "Reverts octo/engine#{}"])
def test_a_number_of_thousands_of_digits_is_no_revert(phrase: str) -> None:
    assert RevertIndex([pull(body=phrase.format("9" * 5_000))]).reverts == ()


def test_a_number_of_thousands_of_digits_is_of_no_day() -> None:
    assert remove_unknown_numbers(f"See #{'9' * 5_000}", frozenset({1})) == "See"


@check_rows(
    {
        "one_line": collapse_lines,
        "without_comments": remove_comments,
        "is_revert": lambda text: is_revert(pull(title=text[:TITLE], body=text)),
        "fallback": lambda text: build_fallback_summary(pull(body=text), failed("it is away"), Coverage.FULL),
    },
    ["<!--", "-->", " ", "\n", "(", "[", "`", "*", "#1", "Revert ", '"', "a/", ", "],
)
def test_a_description_of_one_piece_over_and_over_is_read_soon(work: Callable[[str], object], piece: str) -> None:
    assert takes_less(1.0, lambda: work(piece * (BODY // len(piece))))


def _find_all_among_others(text: str) -> None:
    title = f"Fix {text}"[:TITLE]
    pull_request = pull(3, title=title, body=text, commit_message=text, merged_at=NOON)
    index = RevertIndex([pull(1), pull(2, title=title, body=text), pull_request])
    for find in (find_outcomes, find_relands, find_repairs):
        find(index)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "Reverts #1, ",
        "This PR reverts ",
        "- #1\n",
        "this is a partial revert of the ",
        "commits abcdef12, ",
        "https://github.com/octo/engine/pull/1 and ",
        "octo/engine",
        "PR 1, ",
        "[#1](https://",
        "#1 broke #2 and ",
        "regression from #1, ",
        "bug in the ",
        "a. ",
        "```\n",
        "relands #1 ",
        "second attempt at ",
        "this is temporarily ",
        "to be reverted ",
        "(take 2) ",
        "[reland] ",
        '"Revert ',
        "\n\n- Reapply ",
        "0123456789abcdef",
        "not ",
    ],
)
def test_what_was_taken_back_is_found_soon_in_one_piece_over_and_over(piece: str) -> None:
    assert takes_less(1.5, lambda: _find_all_among_others(piece * (BODY // len(piece))))
