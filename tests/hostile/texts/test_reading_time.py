"""Readers of single texts end soon, also with texts that somebody made to hurt them.

The bounds are several times what each takes. That time grows as the text does is shown in ``test_linear_time``.
"""

from datetime import timedelta

import pytest

from bot.features.digest.since import build_stories
from bot.features.merges.outcomes import RevertIndex
from bot.features.questions.markdown import AnswerMarkdown, Links
from bot.platform.pulls.models import PullRequest
from bot.platform.source.excerpts import list_scopes
from impact.history.outcomes import find_repairs
from impact.source.models import MAX_SOURCE_BYTES
from tests.helpers.builders import NOON, pull
from tests.helpers.checks import measure_seconds
from tests.helpers.tables import check_rows

pytestmark = pytest.mark.slow

BODY = 65_536  # GitHub's limit


def make_merge(number: int, title: str, body: str = "") -> PullRequest:
    """Higher numbers are merged later."""
    return pull(number, title=title, body=body, files=None, merged_at=NOON + timedelta(minutes=number))


CAUSE = make_merge(5, "Count requests once")


SIGNS = ["[", "(", "`", "<", "<cite ", '<cite pr="7" path="a">', "[a](", "[a](b", "]", "@", ":", "w", "#7 ", "`a"]
WORDS = ["x", "\n", "a-b "]


@pytest.mark.parametrize("piece", [*SIGNS, *WORDS[:2]])
def test_an_answer_of_one_piece_over_and_over_is_read_soon(piece: str) -> None:
    assert measure_answer(f"<answer>{piece * (30_000 // len(piece))}") < 1.5


def test_an_answer_of_many_words_is_read_soon() -> None:
    assert measure_answer("<answer>" + "ab " * 4_000) < 0.3


@pytest.mark.parametrize("piece", [*SIGNS, *WORDS])
def test_an_answer_that_comes_sign_by_sign_is_read_soon(piece: str) -> None:
    assert measure_answer(*f"<answer>{piece * (5_000 // len(piece))}") < 1.5


def measure_answer(*pieces: str) -> float:
    """Return the seconds of the processor in which an answer is made of them."""
    markdown = AnswerMarkdown(Links(lambda _: None, lambda _: None))
    return measure_seconds(lambda: [*map(markdown.feed, pieces), markdown.end_answer()])


DEEP = {
    "brackets": "(" * MAX_SOURCE_BYTES,
    "signs": "-" * MAX_SOURCE_BYTES + "1",
    "attributes": "a" + ".a" * (MAX_SOURCE_BYTES // 2),
    "blocks": "".join(" " * n + "if x:\n" for n in range(900)),
    "braces": "f() {" * (MAX_SOURCE_BYTES // 5),
    "quotes": "\"'`" * (MAX_SOURCE_BYTES // 3),
    "comments": "/*" * (MAX_SOURCE_BYTES // 2),
    "directives": "#\\\n" * (MAX_SOURCE_BYTES // 3),
    "strings": '"\\' * (MAX_SOURCE_BYTES // 2),
}


@pytest.mark.parametrize("path", ["a.py", "a.cpp"])
@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_somebody_made_to_hurt_ends(path: str, text: str) -> None:
    assert all(1 <= scope.start <= scope.head_end <= scope.end for scope in list_scopes(path, text))


PIECES = [
    *"bug|bug |bug in |bug in the |by |the |a|a.|a/|a/b|#|# |#1|#5 |<!--|-->".split("|"),
    *"'|_|*|,| |\n|\t|\r\n|regression from ".split("|"),
    "bug,in ",
    "bug-in-",
    "bug  by  pull request ",
    "issue from octo/engine#5 ",
    "https://github.com/",
    "https://github.com/a/b/pull/",
    "9",
]


@check_rows(PIECES, ["", "bug in ", "bug in the ", "bug in a/"])
def test_repairs_are_found_soon_in_one_piece_over_and_over(piece: str, start: str) -> None:
    pull_requests = [make_merge(9, "Fix", (start + piece * BODY)[:BODY]), CAUSE]
    assert any(measure_repairs(pull_requests) < 0.5 for _ in range(2))


def measure_repairs(pulls: list[PullRequest]) -> float:
    """Return the seconds of the processor in which repairs are found."""
    return measure_seconds(lambda: find_repairs(RevertIndex(pulls)))


def test_repairs_are_found_soon_in_a_title_of_one_piece() -> None:
    pull_requests = [make_merge(9, ("fix bug in the " * 20)[:256]), CAUSE]
    assert measure_repairs(pull_requests) < 0.1


def test_long_titles_cost_little() -> None:
    pulls = [make_merge(at, "[1/N] " + "part 2 [" * 30_000, "follow up " * 20_000) for at in range(1, 6)]
    assert build_stories(RevertIndex(pulls)).stories
