"""What of a digest someone wants to see, and how that is written and marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.digest.view import WHOLE, Only, View
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.query_options import FILTERS, Options


@pytest.mark.parametrize(
    ("view", "text"),
    [
        pytest.param(WHOLE, "", id="everything"),
        pytest.param(View(only=Only.RISKY), "only:risky", id="risky"),
        pytest.param(View(only=Only.SUBSTANTIAL), "only:substantial", id="substantial"),
        pytest.param(View(Filters(("csrc",), not_authors=("bots",))), "path:csrc not-author:bots", id="filters"),
        pytest.param(
            View(Filters(labels=("good first issue",)), Only.RISKY),
            'label:"good first issue" only:risky',
            id="both",
        ),
    ],
)
def test_a_view_is_written_as_in_a_command(view: View, text: str) -> None:
    assert str(view) == text
    assert " ".join(view.words()) == text
    assert bool(view) is bool(text)


def test_where_everything_is_shown_there_is_no_mark() -> None:
    assert WHOLE.mark == ""


def test_a_mark_is_the_same_in_each_version_as_records_hold_it() -> None:
    assert View(only=Only.RISKY).mark == "7549e8ff"


values = st.sampled_from(["a", "b", "A", "a b", "bots", "a:b", "only:risky"])
some = st.lists(values, max_size=2).map(tuple)
views = st.builds(View, st.builds(Filters, some, some, some, some), st.sampled_from(list(Only)))


@given(views, views)
def test_two_views_share_a_mark_only_if_they_are_equal(one: View, other: View) -> None:
    assert (one.mark == other.mark) is (one == other)


@given(views)
def test_what_is_written_reads_back_as_the_same_view(view: View) -> None:
    found = Options.read(str(view), (*FILTERS, "only"))
    assert View(found.filters, Only(found.last("only"))) == view
