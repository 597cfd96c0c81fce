"""What of a digest someone wants to see, and how that is written and marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.digest.view import FULL_VIEW, DigestView, ViewLevel
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.query_options import FILTER_NAMES, QueryOptions


@pytest.mark.parametrize(
    ("view", "text"),
    [
        pytest.param(FULL_VIEW, "", id="everything"),
        pytest.param(DigestView(only=ViewLevel.RISKY), "only:risky", id="risky"),
        pytest.param(DigestView(only=ViewLevel.SUBSTANTIAL), "only:substantial", id="substantial"),
        pytest.param(
            DigestView(Filters(("csrc",), not_authors=("bots",))), "path:csrc not-author:bots", id="filters"
        ),
        pytest.param(
            DigestView(Filters(labels=("good first issue",)), ViewLevel.RISKY),
            'label:"good first issue" only:risky',
            id="both",
        ),
    ],
)
def test_a_view_is_written_as_in_a_command(view: DigestView, text: str) -> None:
    assert str(view) == text
    assert " ".join(view.list_options()) == text
    assert bool(view) is bool(text)


def test_where_everything_is_shown_there_is_no_mark() -> None:
    assert FULL_VIEW.fingerprint == ""


def test_a_mark_is_the_same_in_each_version_as_records_hold_it() -> None:
    assert DigestView(only=ViewLevel.RISKY).fingerprint == "7549e8ff"


values = st.sampled_from(["a", "b", "A", "a b", "bots", "a:b", "only:risky"])
some = st.lists(values, max_size=2).map(tuple)
views = st.builds(DigestView, st.builds(Filters, some, some, some, some), st.sampled_from(list(ViewLevel)))


@given(views, views)
def test_two_views_share_a_mark_only_if_they_are_equal(one: DigestView, other: DigestView) -> None:
    assert (one.fingerprint == other.fingerprint) is (one == other)


@given(views)
def test_what_is_written_reads_back_as_the_same_view(view: DigestView) -> None:
    found = QueryOptions.parse(str(view), (*FILTER_NAMES, "only"))
    assert DigestView(found.filters, ViewLevel(found.get_last("only"))) == view
